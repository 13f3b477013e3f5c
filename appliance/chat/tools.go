package chat

import "parley/appliance/contract"

// BuiltinTools are the tools of the box that a chat can call: what the list of
// language models says of each. There are none yet.
func BuiltinTools() []contract.BuiltInTool { return []contract.BuiltInTool{} }
