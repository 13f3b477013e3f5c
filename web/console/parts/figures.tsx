import type { ComponentChildren } from "preact";

// Figures is a list of figures.
export function Figures({ children }: { children: ComponentChildren }) {
  return <dl class="figures">{children}</dl>;
}

// Figure is a number with its name. mood marks one that needs attention.
export function Figure({
  name,
  value,
  more,
  mood,
}: {
  name: string;
  value: string;
  more?: ComponentChildren;
  mood?: "warn" | "bad";
}) {
  return (
    <div class={mood ? `figure ${mood}` : "figure"}>
      <dt>{name}</dt>
      <dd>
        {value}
        {more && <span class="faint">{more}</span>}
      </dd>
    </div>
  );
}
