import { useEffect, useRef, useState } from "preact/hooks";
import { colours } from "../parts/chart_style";
import { type Unit, said } from "./scores";

// A picture is drawn at most this wide, in pixels: a tablet's screen.
const widest = 1600;

// Picture draws a picture with the boxes of its faces; without the file it draws the boxes only.
export function Picture({
  file,
  units,
  names,
  at,
  pick,
}: {
  file?: File;
  units: Unit[];
  names: string[];
  at?: number;
  pick: (i: number) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [bitmap, setBitmap] = useState<ImageBitmap>();
  useEffect(() => {
    let open: ImageBitmap | undefined,
      gone = false;
    if (file)
      createImageBitmap(file).then(
        (b) => {
          if (gone) return b.close();
          setBitmap((open = b));
        },
        () => {}, // a kind of picture that this browser cannot read
      );
    return () => {
      gone = true;
      open?.close();
    };
  }, [file]);
  const width = bitmap?.width ?? Math.max(...units.map((u) => u.box!.x + u.box!.w)),
    height = bitmap?.height ?? Math.max(...units.map((u) => u.box!.y + u.box!.h));
  useEffect(() => {
    const c = canvas.current!,
      scale = Math.min(1, widest / width);
    c.width = Math.round(width * scale);
    c.height = Math.round(height * scale);
    const ctx = c.getContext("2d")!;
    if (bitmap) ctx.drawImage(bitmap, 0, 0, c.width, c.height);
    const line = Math.max(2, c.width / 300);
    ctx.font = `600 ${Math.max(14, c.width / 45)}px system-ui, sans-serif`;
    ctx.textBaseline = "top";
    units.forEach((u, i) => {
      const { x, y, w, h } = u.box!;
      ctx.lineWidth = (i === at ? 2 : 1) * line;
      ctx.strokeStyle = ctx.fillStyle = colours[i === at ? 1 : 0]!;
      ctx.strokeRect(x * scale, y * scale, w * scale, h * scale);
      const label = String(i + 1),
        size = ctx.measureText(label);
      const tall = size.actualBoundingBoxDescent + 6;
      ctx.fillRect(x * scale, y * scale, size.width + 8, tall);
      ctx.fillStyle = "#fff";
      ctx.fillText(label, x * scale + 4, y * scale + 3);
    });
  }, [bitmap, units, at, width, height]);
  const clicked = (e: MouseEvent) => {
    const frame = canvas.current!.getBoundingClientRect();
    const x = ((e.clientX - frame.left) / frame.width) * width,
      y = ((e.clientY - frame.top) / frame.height) * height;
    const i = units.findIndex(({ box }) => x >= box!.x && x <= box!.x + box!.w && y >= box!.y && y <= box!.y + box!.h);
    if (i >= 0) pick(i);
  };
  return (
    <>
      {!bitmap && <p class="quiet">The picture is not in this browser, so only the places of the faces are drawn.</p>}
      <canvas
        ref={canvas}
        class="picture"
        role="img"
        aria-label={`${units.length === 1 ? "One face" : `${units.length} faces`}. The list below says the same.`}
        onClick={clicked}
      />
      <ol class="faces">
        {units.slice(0, 20).map((u, i) => (
          <li key={i} aria-current={i === at ? "true" : undefined}>
            <button type="button" class="link" onClick={() => pick(i)}>
              Face {i + 1}
            </button>{" "}
            {said(names, u.scores)}
          </li>
        ))}
      </ol>
    </>
  );
}
