import { useState } from "preact/hooks";
import { Area } from "../parts/field";
import type { Call, Conversation } from "./conversation";

// Tools lists the tool calls of the conversation with their answers. Calls that wait for the client are answered here
// by hand.
export function Tools({ calls, conversation }: { calls: Call[]; conversation: Conversation | null }) {
  if (calls.length === 0) return <p class="faint">No tool calls yet. The config chooses the tools.</p>;
  return (
    <ol class="calls">
      {calls.map((c) => (
        <li key={c.id}>
          <OneCall call={c} conversation={conversation} />
        </li>
      ))}
    </ol>
  );
}

function OneCall({ call, conversation }: { call: Call; conversation: Conversation | null }) {
  const [content, setContent] = useState("");
  const wanted = call.wanted && conversation;
  return (
    <>
      <h3>
        <code>{call.name}</code>{" "}
        {wanted ? (
          <span class="tag warn">waits for you</span>
        ) : call.error !== undefined ? (
          <span class="tag bad">failed</span>
        ) : call.answer === undefined ? (
          <span class="tag">at work</span>
        ) : (
          <span class="tag plain">answered</span>
        )}
      </h3>
      <pre tabIndex={0} aria-label={`Arguments of ${call.name}`}>
        <code>{pretty(call.parameters)}</code>
      </pre>
      {call.answer !== undefined && (
        <pre tabIndex={0} aria-label={`Answer of ${call.name}`}>
          <code>{pretty(call.answer)}</code>
        </pre>
      )}
      {call.error !== undefined && <p class="error">{call.error}</p>}
      {wanted && (
        <form
          onSubmit={(e) => {
            e.preventDefault();
            wanted.answer(call, content);
          }}
        >
          <Area
            label={`Answer of ${call.name}`}
            help="Text or JSON, as the tool would return it."
            value={content}
            set={setContent}
            rows={3}
            code
            required
          />
          <div class="buttons">
            <button type="submit" class="primary">
              Answer
            </button>
            <button type="button" onClick={() => wanted.fail(call, content || "the tool failed")}>
              Fail
            </button>
          </div>
        </form>
      )}
    </>
  );
}

// pretty indents JSON, and returns any other text unchanged.
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
