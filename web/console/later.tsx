import type { ComponentType } from "preact";
import { useLoad } from "./load";
import type { PageProps } from "./page";
import { Failure, Loading } from "./parts/notice";

// BUILD is the id of the build of the console's scripts, the same in all of them.
declare const BUILD: string;

// A Script is a script that is fetched when its page is opened.
interface Script {
  build: string;
  Page: ComponentType<PageProps>;
}

// later is a page whose script is fetched when the page is opened.
export function later(fetchScript: () => Promise<Script>): ComponentType<PageProps> {
  return function Later(props: PageProps) {
    const page = useLoad(async () => {
      const { build, Page } = await fetchScript();
      // After an update of the box, the new script does not fit this older one.
      if (build !== BUILD) throw new Error("The box was updated. Reload this page.");
      return { Page };
    }, []);
    if (page.error) return <Failure error={page.error} again={() => location.reload()} />;
    if (!page.value) return <Loading />;
    return <page.value.Page {...props} />;
  };
}
