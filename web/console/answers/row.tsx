import { Component } from "preact";
import { Area, Field } from "../parts/field";
import type { Row, RowFaults } from "./rows";

// Acts are what can be done with a row. They stay the same as long as the page is open.
export interface Acts {
  change: (row: Row) => void;
  drop: (row: Row) => void;
  listen: (row: Row) => void;
}

export interface RowProps {
  row: Row;
  id: string;
  faults?: RowFaults;
  given?: number; // how often the answer was given
  days: string; // in how many days
  sound: "" | "waiting" | "playing";
  acts: Acts;
}

// charsALine is about how many characters fit into a line of a text field.
const charsALine = 34;

// linesFor returns how many lines a field shows of its text: two at least, and not so many that it fills the screen.
function linesFor(text: string): number {
  const lines = text.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / charsALine)), 0);
  return Math.min(Math.max(lines, 2), 10);
}

// focusNear moves the focus from a row that goes to the same button of the row after it, or before it.
function focusNear(button: HTMLElement): void {
  const row = button.closest("fieldset")!;
  const near = [row.nextElementSibling, row.previousElementSibling].find((e) => e?.matches("fieldset.answer"));
  near?.querySelector<HTMLElement>("button.danger")?.focus();
}

// RowFields are the fields of one answer. With hundreds of rows, only the one that changed is drawn again.
export class RowFields extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    return (Object.keys(next) as (keyof RowProps)[]).some((name) => next[name] !== this.props[name]);
  }

  override render({ row, id, faults, given, days, sound, acts }: RowProps) {
    const change = (part: Partial<Row>) => acts.change({ ...row, ...part });
    return (
      <fieldset class="card answer" data-key={row.key}>
        <legend>
          {id}
          {given !== undefined && (
            <span class="faint">
              {" "}
              given {given === 1 ? "once" : `${given} times`} in {days} days
            </span>
          )}
        </legend>
        <div class="pair">
          <Area
            label="Ways of asking, one a line"
            rows={linesFor(row.ask)}
            value={row.ask}
            set={(ask) => change({ ask })}
            error={faults?.ask}
            placeholder={"When are you open?\nopening times"}
          />
          <Area
            label="What is said"
            rows={linesFor(row.say)}
            value={row.say}
            set={(say) => change({ say })}
            maxLength={1000}
            error={faults?.say}
          />
        </div>
        <div class="row">
          <Field
            label="Id"
            value={row.id}
            set={(v) => change({ id: v })}
            maxLength={64}
            placeholder={id}
            error={faults?.id}
          />
          <button
            type="button"
            aria-pressed={sound === "playing"}
            disabled={!row.say.trim()}
            onClick={() => acts.listen(row)}
          >
            {sound === "waiting" ? "Preparing …" : sound === "playing" ? "Stop" : "Listen"}
          </button>
          <button
            type="button"
            class="danger"
            onClick={(e) => {
              focusNear(e.currentTarget);
              acts.drop(row);
            }}
          >
            Delete
          </button>
        </div>
      </fieldset>
    );
  }
}
