import { later } from "./later";
import type { Page } from "./page";
import { Audit } from "./pages/audit";
import { Chats } from "./pages/chats";
import { Configs } from "./pages/configs";
import { Health } from "./pages/health";
import { Keys } from "./pages/keys";
import { Kiosks } from "./pages/kiosks";
import { Packs } from "./pages/packs";
import { Phone } from "./pages/phone";
import { Plugins } from "./pages/plugins";
import { Prompts } from "./pages/prompts";
import { Sessions } from "./pages/sessions";
import { Settings } from "./pages/settings";
import { Talk } from "./pages/talk";
import { Tools } from "./pages/tools";
import { Voices } from "./pages/voices";
import { Webhooks } from "./pages/webhooks";
import { SetUpPage } from "./pages/set_up";

const expression = later(() => import("./pages/expression"));
const fleet = (page: "Boxes" | "Rollouts") =>
  later(() => import("./pages/fleet").then(({ build, [page]: Page }) => ({ build, Page })));

// pages lists all pages in the order of the menu. The console opens with the first that it has.
export const pages: Page[] = [
  { path: "boxes", name: "Boxes", group: "The fleet", on: "hub", show: fleet("Boxes") },
  { path: "rollouts", name: "Roll-outs", group: "The fleet", on: "hub", show: fleet("Rollouts") },
  { path: "talk", name: "Talk", group: "Conversations", show: Talk },
  { path: "chats", name: "Chats", group: "Conversations", show: Chats },
  { path: "phone", name: "Phone", group: "Conversations", on: "box", show: Phone },
  { path: "expression", name: "Expression", group: "Conversations", on: "box", show: expression },
  { path: "configs", name: "Configs", group: "Assistants", show: Configs },
  { path: "answers", name: "Answers", group: "Assistants", show: later(() => import("./pages/answers")) },
  { path: "prompts", name: "Prompts", group: "Assistants", show: Prompts },
  { path: "tools", name: "Tools", group: "Assistants", show: Tools },
  { path: "voices", name: "Voices", group: "Assistants", show: Voices },
  { path: "health", name: "Health", group: "The box", show: Health },
  { path: "plugins", name: "Plugins", group: "The box", show: Plugins },
  { path: "packs", name: "Packs", group: "The box", on: "box", show: Packs },
  { path: "kiosks", name: "Screens", group: "The box", on: "box", show: Kiosks },
  { path: "webhooks", name: "Webhooks", group: "The box", on: "box", show: Webhooks },
  { path: "keys", name: "Keys", group: "The box", show: Keys },
  { path: "settings", name: "Settings", group: "The box", show: Settings },
  { path: "sessions", name: "Sessions", group: "The box", show: Sessions },
  { path: "audit", name: "Audit", group: "The box", show: Audit },
];

// setUpPage sets the box up, until that is done.
export const setUpPage: Page = { path: "setup", name: "Set up", group: "The box", show: SetUpPage };
