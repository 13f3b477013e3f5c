package config

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// VoicePrefix begins the names of the voices' packs; people leave it out.
const VoicePrefix = "voice-"

// Pack is the folder of the pack of that name.
func (c Config) Pack(name string) string { return filepath.Join(c.Packs, name) }

// ModelPacks are the packs of the embedded language models.
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

// VoicePack is the pack of the voice that people call name. A voice that is
// not there keeps the name under which it could be fetched.
func (c Config) VoicePack(name string) string {
	if !strings.HasPrefix(name, VoicePrefix) && !c.IsVoice(name) {
		return VoicePrefix + name
	}
	return name
}

// IsVoice tells whether the packs folder has a pack of that name with a voice
// in it. Any name may be asked for: none leads out of the folder.
func (c Config) IsVoice(pack string) bool {
	if _, err := packName(pack); err != nil {
		return false
	}
	_, err := os.Stat(filepath.Join(c.Pack(pack), "voice.onnx"))
	return err == nil
}

// Voices lists the packs with a voice that are there.
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

// Cores are those that the engines may use together.
func (c Config) Cores() int {
	if c.Engines.Threads > 0 {
		return min(c.Engines.Threads, runtime.NumCPU())
	}
	return runtime.NumCPU()
}

// chatsPerCore is how many conversations one core carries: each is busy for
// about a fifth of its time.
const chatsPerCore = 4

// MaxChats is how many conversations there may be at once.
func (c Config) MaxChats() int {
	if c.Chat.MaxChats > 0 {
		return c.Chat.MaxChats
	}
	return chatsPerCore * c.Cores()
}

// ChatsPerAccount is how many conversations one account may have at once. By
// default it is three quarters of all, so that another account finds a seat.
func (c Config) ChatsPerAccount() int {
	if n := c.Limits.ChatsPerAccount; n > 0 {
		return min(n, c.MaxChats())
	}
	return max(1, c.MaxChats()*3/4)
}
