"""A program that saves all records of an account with the PyPI client "hume", as its owner
did before the service ended: a record on each line, as the models of the client write
them. Prints "done"."""

import json
import os
from pathlib import Path

from hume import HumeClient

evi = HumeClient(api_key=os.environ["API_KEY"], base_url=os.environ["BOX_URL"]).empathic_voice
folder = Path(os.environ["FOLDER"])


def save(name, records):
    with open(folder / name, "w") as f:
        for record in records:
            f.write(json.dumps(record.dict(), default=str) + "\n")


save("configs", evi.configs.list_configs(page_size=3, restrict_to_most_recent=False))
save("prompts", evi.prompts.list_prompts(page_size=3, restrict_to_most_recent=False))
save("tools", evi.tools.list_tools(page_size=3, restrict_to_most_recent=False))
chats = list(evi.chats.list_chats(page_size=4, ascending_order=False))
save("chats", chats)
events = [e for c in chats for e in evi.chats.list_chat_events(c.id, page_size=100, ascending_order=True)]
save("events", events)
print("done")
