import { useEffect, useRef } from "preact/hooks";
import type { EmotionScores } from "../../wire";
import type { Said } from "./conversation";

// Transcript shows the conversation as it happens. Screen readers read it out. It follows the end until the user
// scrolls up. you names the person who talks with the assistant.
export function Transcript({ said, you = "You" }: { said: Said[]; you?: string }) {
  const names = { you, box: "Assistant", note: "Note" };
  const log = useRef<HTMLDivElement>(null),
    follow = useRef(true);
  useEffect(() => {
    if (follow.current) log.current!.scrollTop = log.current!.scrollHeight;
  }, [said]);
  const scrolled = () => {
    const l = log.current!;
    follow.current = l.scrollHeight - l.scrollTop - l.clientHeight < 40;
  };
  return (
    <div class="log" ref={log} role="log" aria-label="Transcript" tabIndex={0} onScroll={scrolled}>
      {said.length === 0 && <p class="faint">The conversation appears here.</p>}
      <ol>
        {said.map((s) => (
          <li key={s.id} class={`${s.who}${s.interim ? " interim" : ""}`} data-who={s.who}>
            <span class="name">{names[s.who]}</span>
            <span class="text">
              <span dir="auto">{s.text}</span>
              {s.cut && <em class="faint"> interrupted</em>}
            </span>
            {s.scores && (
              <span class="felt">
                {strongest(s.scores, 3).map(([name, score]) => (
                  <span key={name} class="tag plain">
                    {name} {score.toFixed(2)}
                  </span>
                ))}
              </span>
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}

// strongest returns the feelings that stand out, the strongest first.
export function strongest(scores: EmotionScores, most: number): [string, number][] {
  return (Object.entries(scores) as [string, number][]).sort((a, b) => b[1] - a[1]).slice(0, most);
}
