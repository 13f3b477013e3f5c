"""A tool: the assistant asks this program when the next train leaves."""
import asyncio, json, os
from websockets.asyncio.client import connect

BOX = os.environ.get("PARLEY_URL", "ws://127.0.0.1:8080") + "/v0/evi/chat"
TOOL = {"type": "function", "name": "next_train", "description": "Tells when the next train to a town leaves.",
        "parameters": json.dumps({"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]})}

async def main():
    async with connect(BOX + "?api_key=" + os.environ["PARLEY_API_KEY"]) as chat:
        await chat.send(json.dumps({"type": "session_settings", "tools": [TOOL]}))
        await chat.send(json.dumps({"type": "user_input", "text": "When does the next train to Linz leave?"}))
        async for text in chat:
            m = json.loads(text)
            if m["type"] == "tool_call":
                town = json.loads(m["parameters"])["town"]
                print("The assistant asks for", town)
                await chat.send(json.dumps({"type": "tool_response", "tool_call_id": m["tool_call_id"],
                                            "content": f"The next train to {town} leaves at 2:12 pm from platform 3."}))
            elif m["type"] == "assistant_message":
                print(m["message"]["content"])
            elif m["type"] == "assistant_end":
                break

asyncio.run(main())
