import { useState } from "preact/hooks";
import type { PostedRollout } from "../../rest";
import type { Faults } from "../pages/faults";
import { Check, Field, Select } from "../parts/field";

// First is which boxes run a roll-out first, as the form has it.
export interface First {
  how: "none" | "number" | "names";
  number: string;
  names: string[];
  soak: string; // minutes
}

// firstOf returns the fields of a roll-out.
export function firstOf(f: First): Pick<PostedRollout, "canary" | "canary_boxes" | "soak_minutes"> {
  if (f.how === "none") return {};
  const soak_minutes = Number(f.soak);
  return f.how === "number" ? { canary: Number(f.number), soak_minutes } : { canary_boxes: f.names, soak_minutes };
}

const ways = [
  ["none", "No box: all at once"],
  ["number", "A number of boxes"],
  ["names", "Boxes that I choose"],
] as const;

// mostOffered is how many boxes are offered at once; the search finds the others.
const mostOffered = 12;

// Canaries are the fields for the boxes that run a roll-out first.
export function Canaries({
  first,
  set,
  boxes,
  faults,
}: {
  first: First;
  set: (f: First) => void;
  boxes: string[];
  faults: Faults;
}) {
  return (
    <>
      <Select
        label="Who runs it first"
        value={first.how}
        set={(how) => set({ ...first, how: how as First["how"] })}
        options={ways}
        help="If a box that runs it first cannot, or has a new problem, the hub takes it back."
      />
      {first.how !== "none" && (
        <div class="row">
          {first.how === "number" && (
            <Field
              label="How many boxes"
              type="number"
              min={1}
              max={1000}
              required
              value={first.number}
              set={(number) => set({ ...first, number })}
              help="The hub chooses them of those that are online."
              error={faults["canary"]}
            />
          )}
          <Field
            label="For how many minutes"
            type="number"
            min={0}
            max={10080}
            required
            value={first.soak}
            set={(soak) => set({ ...first, soak })}
            help="Then it goes to the others by itself."
            error={faults["soak_minutes"]}
          />
        </div>
      )}
      {first.how === "names" && (
        <Names
          names={first.names}
          set={(names) => set({ ...first, names })}
          boxes={boxes}
          error={faults["canary_boxes"]}
        />
      )}
    </>
  );
}

function Names({
  names,
  set,
  boxes,
  error,
}: {
  names: string[];
  set: (names: string[]) => void;
  boxes: string[];
  error?: string;
}) {
  const [search, setSearch] = useState("");
  const found = boxes.filter((b) => b.includes(search.trim().toLowerCase()) && !names.includes(b));
  const shown = [...names, ...found.slice(0, mostOffered)];
  return (
    <fieldset>
      <legend>Boxes that run it first</legend>
      {boxes.length > mostOffered && <Field label="Name" type="search" value={search} set={setSearch} maxLength={40} />}
      <div class="checks row">
        {shown.map((b) => (
          <Check
            key={b}
            label={b}
            value={names.includes(b)}
            set={(yes) => set(yes ? [...names, b] : names.filter((n) => n !== b))}
          />
        ))}
      </div>
      {found.length > mostOffered && <p class="faint">{found.length - mostOffered} more: type a part of the name.</p>}
      {error && <p class="error">{error}</p>}
    </fieldset>
  );
}
