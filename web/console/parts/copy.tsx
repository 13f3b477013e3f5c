import { useState } from "preact/hooks";

// Copy is a text with a copy button. Browsers give the clipboard to secure pages only; on other pages the button
// selects the text for the keyboard.
export function Copy({ text, label }: { text: string; label: string }) {
  const [said, setSaid] = useState("");
  const copy = async (e: { currentTarget: HTMLElement }) => {
    const code = e.currentTarget.previousElementSibling!;
    try {
      await navigator.clipboard.writeText(text);
      setSaid("Copied");
    } catch {
      getSelection()?.selectAllChildren(code);
      setSaid("Selected: copy it with the keyboard");
    }
    setTimeout(() => setSaid(""), 3000);
  };
  return (
    <span class="copy">
      <code>{text}</code>
      <button type="button" aria-label={`Copy ${label}`} onClick={(e) => void copy(e)}>
        Copy
      </button>
      <span role="status" class="faint">
        {said}
      </span>
    </span>
  );
}
