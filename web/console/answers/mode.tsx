import { Area, Select } from "../parts/field";
import type { AnswersMode } from "./rows";

const about: Record<AnswersMode, string> = {
  first: "It says an approved answer where one fits. To everything else, the language model answers from its prompt.",
  only:
    "It says approved answers and nothing else. Write answers for greetings, thanks and goodbyes too: the language " +
    "model says nothing.",
};

// Mode is the choice of who answers what is not in the table.
export function Mode({
  mode,
  setMode,
  unknown,
  setUnknown,
  faults,
}: {
  mode: AnswersMode;
  setMode: (mode: AnswersMode) => void;
  unknown: string;
  setUnknown: (text: string) => void;
  faults: Record<string, string>;
}) {
  return (
    <>
      <Select
        label="Who answers"
        value={mode}
        set={(v) => setMode(v as AnswersMode)}
        options={[
          ["first", "Approved answers first, then the language model"],
          ["only", "Approved answers only"],
        ]}
        help={about[mode]}
        error={faults["answers.mode"]}
      />
      {(mode === "only" || unknown !== "") && (
        <Area
          label="Said when no answer fits"
          rows={2}
          value={unknown}
          set={setUnknown}
          required={mode === "only"}
          maxLength={300}
          placeholder="I don't know that. Please ask at the desk."
          help={mode === "only" ? undefined : "Not used while the language model answers the rest."}
          error={faults["answers.unknown"]}
        />
      )}
    </>
  );
}
