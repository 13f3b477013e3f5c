// Stores the pairing in the browser.
const kept = "parley.kiosk";
export interface Pairing {
  key: string;
  name: string;
}

// remembered returns the stored pairing, or nothing when it is incomplete.
export function remembered(): Pairing | null {
  try {
    const p = JSON.parse(localStorage.getItem(kept) ?? "null") as Partial<Pairing> | null;
    return p?.key ? { key: p.key, name: p.name ?? "" } : null;
  } catch {
    return null;
  }
}

// remember stores the pairing or deletes it. A browser that cannot store it asks for a code again when the page is
// opened next.
export function remember(p: Pairing | null): void {
  try {
    if (p) localStorage.setItem(kept, JSON.stringify(p));
    else localStorage.removeItem(kept);
  } catch {
    /* private windows, and cookies that are forbidden */
  }
}

// onChanged calls does when another tab has paired or unpaired the screen.
export function onChanged(does: () => void): void {
  addEventListener("storage", (e) => {
    if (e.key === kept || e.key === null) does();
  });
}
