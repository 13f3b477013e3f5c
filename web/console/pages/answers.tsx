import type { PageProps } from "../page";

declare const BUILD: string;
// build is the build of this script: see later.tsx.
export const build = BUILD;

export function Page(_: PageProps) {
  return <h1>Answers</h1>;
}
