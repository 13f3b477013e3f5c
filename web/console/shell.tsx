import { useEffect, useRef, useState } from "preact/hooks";
import type { ReturnOperator, ReturnSignIn } from "../rest";
import { get, patch, remove } from "./api";
import { useDoing } from "./load";
import { Managed } from "./managed";
import { pages, setUpPage } from "./pages";
import { Select } from "./parts/field";
import { ErrorLine } from "./parts/notice";
import { to, useRoute } from "./route";

// Shell shows the menu and, next to it, the page that the address names.
export function Shell({ who, changed }: { who: ReturnOperator; changed: (who: ReturnOperator | null) => void }) {
  const route = useRoute();
  const [open, setOpen] = useState(false);
  const doing = useDoing();
  const main = useRef<HTMLElement>(null);
  // The page that sets the box up is there until that is done.
  const [setUp, setSetUp] = useState(false);
  useEffect(() => void get<ReturnSignIn>("/v0/box/sign-in").then((ways) => setSetUp(ways.set_up), () => {}), []);
  const here = pages.filter((p) => !p.on || (p.on === "hub") === !!who.hub);
  const all = setUp ? [...here, setUpPage] : here;
  const start = to(all[0]!.path);
  const page = route.page === "" ? all[0]! : all.find((p) => p.path === route.page);
  const first = useRef(true);
  useEffect(() => {
    document.title = `${page?.name ?? "Page not found"} · Parley`;
    setOpen(false);
  }, [page]);
  // Moves the focus to the new page after a link, for users of a keyboard or a screen reader.
  useEffect(() => {
    if (!first.current) main.current?.focus();
    first.current = false;
  }, [[route.page, ...route.rest].join("/")]);
  const signOut = () =>
    doing.run(async () => {
      if (who.session) await remove(`/v0/box/sessions/${who.session.id}`);
      changed(null);
    });
  const groups = [...new Set(all.map((p) => p.group))];
  return (
    <div class="shell">
      <a
        class="skip"
        href="#main"
        onClick={(e) => {
          e.preventDefault();
          main.current?.focus();
        }}
      >
        Skip the menu
      </a>
      <header class="top">
        <a class="brand" href={start}>
          Parley
        </a>
        <button type="button" class="menu" aria-expanded={open} aria-controls="menu" onClick={() => setOpen(!open)}>
          Menu
        </button>
      </header>
      <nav id="menu" class={open ? "side open" : "side"} aria-label="Pages">
        {groups.map((group) => (
          <section key={group}>
            <h2>{who.hub ? group.replace("box", "hub") : group}</h2>
            <ul>
              {all
                .filter((p) => p.group === group)
                .map((p) => (
                  <li key={p.path}>
                    <a href={to(p.path)} aria-current={p === page ? "page" : undefined}>
                      {p.name}
                    </a>
                  </li>
                ))}
            </ul>
          </section>
        ))}
        <section class="who">
          {who.accounts.length > 1 && (
            <Select
              label="Account"
              value={who.account}
              options={who.accounts.map((name) => [name, name] as const)}
              set={(account) =>
                void doing.run(async () => changed(await patch<ReturnOperator>("/v0/box/operator", { account })))
              }
            />
          )}
          <ErrorLine error={doing.error} />
          <button type="button" onClick={() => void signOut()}>
            Sign out
          </button>
          <p class="faint">Parley {who.version}</p>
        </section>
      </nav>
      <main id="main" ref={main} tabIndex={-1}>
        {page ? (
          // The key remounts the page for another account, so that no data of one account is shown for the other.
          <Managed.Provider value={who.managed}>
            <page.show key={`${page.path} ${who.account}`} who={who} route={route} />
          </Managed.Provider>
        ) : (
          <>
            <h1>Page not found</h1>
            <p>
              This address has no page. <a href={start}>Go to the first page</a>
            </p>
          </>
        )}
      </main>
    </div>
  );
}
