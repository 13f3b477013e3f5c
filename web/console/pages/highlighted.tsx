// Highlighted highlights the search words in a text.
export function Highlighted({ text, words }: { text: string; words: string[] }) {
  if (words.length === 0) return <span dir="auto">{text}</span>;
  const any = new RegExp(`(${words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "giu");
  return (
    <span dir="auto">{text.split(any).map((piece, i) => (i % 2 === 1 ? <mark key={i}>{piece}</mark> : piece))}</span>
  );
}
