import { useState } from "preact/hooks";
import { Area } from "../parts/field";
import type { Call, Conversation } from "./conversation";

// Tools are the calls of the conversation, with what was answered. What waits for
// the client is answered here, by hand.
export function Tools({ calls, conversation }: { calls: Call[]; conversation: Conversation | null }) {
  if (calls.length === 0) return <p class="faint">No tool was called. A config says which ones there are.</p>;
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
            help="Text or JSON, as the tool would answer."
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
              Let it fail
            </button>
          </div>
        </form>
      )}
    </>
  );
}

// pretty is JSON with line breaks, and any other text as it is.
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
