import type { ReturnConfig, ReturnPagedConfigs } from "../../rest";
import { Editor } from "../answers/editor";
import { Refused, get } from "../api";
import { useLoad } from "../load";
import type { PageProps } from "../page";
import { Failure, Loading } from "../parts/notice";
import { to } from "../route";
import "../shared";
import { NamedList } from "./named_list";

declare const BUILD: string;

// build is the build of this script: see later.tsx.
export const build = BUILD;

const path = "/v0/evi/configs";

// Page edits the approved answers of the config that the address names, or lists the configs.
export function Page({ route }: PageProps) {
  const [id] = route.rest;
  if (id) return <OfConfig key={id} id={id} item={route.query.get("item") ?? ""} />;
  return (
    <NamedList<ReturnConfig>
      title="Answers"
      page="answers"
      path={path}
      rows="configs_page"
      one="config"
      made={false}
      about={
        "What an assistant may say, word for word, and the questions that it answers with it. Use answers for what " +
        "must be right, such as prices and opening hours, and a prompt for talk."
      }
      columns={[
        { head: "Answers", number: true, cell: (c) => (c.answers_omitted ? "many" : (c.answers?.items.length ?? 0)) },
        { head: "Who answers", cell: (c) => (c.answers?.mode === "only" ? "answers only" : "the model too") },
      ]}
      nothing={
        <p>
          Answers belong to a config. <a href={to("configs", "new")}>Make one</a> first.
        </p>
      }
    />
  );
}

function OfConfig({ id, item }: { id: string; item: string }) {
  const newest = useLoad(
    async (signal) => {
      const found = (await get<ReturnPagedConfigs>(`${path}/${id}`, {}, signal)).configs_page[0];
      if (!found) throw new Refused(404, "This config was deleted.");
      return found;
    },
    [id],
  );
  if (newest.value) return <Editor key={item} saved={newest.value} reload={newest.reload} item={item} />;
  return (
    <>
      <p>
        <a href={to("answers")}>All configs</a>
      </p>
      <h1>Answers</h1>
      {newest.error ? <Failure error={newest.error} again={newest.reload} /> : <Loading />}
    </>
  );
}
