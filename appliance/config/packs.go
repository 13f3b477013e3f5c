package config

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// VoicePrefix is the prefix of the names of voice packs; people may leave it out.
const VoicePrefix = "voice-"

// Pack returns the folder of a pack.
func (c Config) Pack(name string) string { return filepath.Join(c.Packs, name) }

// ModelPacks returns the packs of the embedded language models.
func (c Config) ModelPacks() []string {
	var names []string
	for _, m := range c.Models() {
		if m.OpenAI == "" && !slices.Contains(names, m.Pack) {
			names = append(names, m.Pack)
		}
	}
	if names != nil {
		names = append([]string{"runtime-llama"}, names...)
	}
	return names
}

// VoicePack returns the pack of a voice, given its name with or without the prefix. The
// pack may not be installed.
func (c Config) VoicePack(name string) string {
	if !strings.HasPrefix(name, VoicePrefix) && !c.IsVoice(name) {
		return VoicePrefix + name
	}
	return name
}

// IsVoice reports whether the packs folder has a pack of that name with a voice in it. Any
// name is safe: none leads out of the folder.
func (c Config) IsVoice(pack string) bool {
	if _, err := packName(pack); err != nil {
		return false
	}
	_, err := os.Stat(filepath.Join(c.Pack(pack), "voice.onnx"))
	return err == nil
}

// Voices lists the installed packs with a voice.
func (c Config) Voices() []string {
	entries, err := os.ReadDir(c.Packs)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if c.IsVoice(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// Cores returns how many cores the engines may use together.
func (c Config) Cores() int {
	if c.Engines.Threads > 0 {
		return min(c.Engines.Threads, runtime.NumCPU())
	}
	return runtime.NumCPU()
}

// chatsPerCore is how many chats one core serves: each uses it for about a fifth of
// the time.
const chatsPerCore = 4

// MaxChats returns how many chats may be live at once.
func (c Config) MaxChats() int {
	if c.Chat.MaxChats > 0 {
		return c.Chat.MaxChats
	}
	return chatsPerCore * c.Cores()
}

// ChatsPerAccount returns how many chats of one account may be live at once. By default
// that is three quarters of MaxChats, which leaves slots for other accounts.
func (c Config) ChatsPerAccount() int {
	if n := c.Limits.ChatsPerAccount; n > 0 {
		return min(n, c.MaxChats())
	}
	return max(1, c.MaxChats()*3/4)
}
