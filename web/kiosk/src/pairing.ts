// What the browser keeps of the pairing.
const kept = "parley.kiosk";
export interface Pairing {
  key: string;
  name: string;
}

// remembered is the pairing that the browser kept; what it did not keep whole is none.
export function remembered(): Pairing | null {
  try {
    const p = JSON.parse(localStorage.getItem(kept) ?? "null") as Partial<Pairing> | null;
    return p?.key ? { key: p.key, name: p.name ?? "" } : null;
  } catch {
    return null;
  }
}

// remember has the browser keep it, or forget it. One that keeps nothing asks for a
// code again when the page is opened the next time.
export function remember(p: Pairing | null): void {
  try {
    if (p) localStorage.setItem(kept, JSON.stringify(p));
    else localStorage.removeItem(kept);
  } catch {
    /* private windows, and cookies that are forbidden */
  }
}

// onChanged calls does when another tab has paired the screen, or ended that.
export function onChanged(does: () => void): void {
  addEventListener("storage", (e) => {
    if (e.key === kept || e.key === null) does();
  });
}
