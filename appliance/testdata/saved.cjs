// A program that saves all records of an account with the npm client "hume", as its owner
// did before the service ended: JSON.stringify of what the client returned. Prints "done".

const fs = require("fs");
const path = require("path");
const { HumeClient } = require(path.join(process.env.CLIENT, "node_modules", "hume"));

const client = new HumeClient({ apiKey: process.env.API_KEY, environment: process.env.BOX_URL });
const evi = client.empathicVoice;
const folder = process.env.FOLDER;
const save = (name, what) => fs.writeFileSync(path.join(folder, name), JSON.stringify(what, null, 2));

/** Returns the items of all pages. */
async function all(pages) {
  const items = [];
  for await (const item of await pages) items.push(item);
  return items;
}

async function main() {
  const every = () => ({ pageSize: 3, restrictToMostRecent: false }); // the client counts pages in it
  save("a.json", { configs: await all(evi.configs.listConfigs(every())) });
  save("b.json", { tools: await all(evi.tools.listTools(every())), prompts: await all(evi.prompts.listPrompts(every())) });
  const newestFirst = () => ({ pageSize: 4, ascendingOrder: false });
  const chats = await all(evi.chats.listChats(newestFirst()));
  save("chats", chats);
  for (const group of await all(evi.chatGroups.listChatGroups({ pageSize: 5 }))) {
    save(`group ${group.id}.txt`, await evi.chatGroups.getChatGroup(group.id, { pageSize: 100 }));
  }
  for (const [i, chat] of chats.entries()) {
    const page = await evi.chats.listChatEvents(chat.id, newestFirst());
    save(`${i}.json`, i % 2 ? await all(Promise.resolve(page)) : await everyPage(page));
  }
  console.log("done");
}

/** Returns the pages of a pager, as they are. */
async function everyPage(page) {
  const pages = [page.data];
  while (page.hasNextPage()) {
    page = await page.getNextPage();
    pages.push(page.data);
  }
  return pages;
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
