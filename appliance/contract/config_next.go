package contract

// Next returns the body of a version like this one: Record is the same for both. A prompt or a
// tool that was deleted is in neither, and neither is the description of the version.
func (c ReturnConfig) Next() PostedConfigVersion {
	next := PostedConfigVersion{
		EVIVersion:      c.EVIVersion,
		Examples:        c.Examples,
		Answers:         c.Answers,
		PromptExpansion: c.PromptExpansion,
		LanguageModel:   c.LanguageModel,
		EllmModel:       &c.EllmModel,
		EventMessages:   &c.EventMessages,
		Timeouts:        &c.Timeouts,
		TurnDetection:   &c.TurnDetection,
		Interruption:    &c.Interruption,
		Nudges:          &c.Nudges,
		Webhooks:        c.Webhooks,
	}
	if p := c.Prompt; p != nil {
		next.Prompt = &ConfigPrompt{
			ID:              p.ID,
			Version:         p.VersionType.fixed(p.Version),
			PromptExpansion: p.PromptExpansion,
		}
	}
	if v := c.Voice; v != nil {
		next.Voice = &VoiceRef{ID: v.ID, Provider: v.Provider}
	}
	for _, t := range c.Tools {
		next.Tools = append(next.Tools, ToolRef{t.ID, t.VersionType.fixed(t.Version)})
	}
	for _, t := range c.BuiltinTools {
		next.BuiltinTools = append(next.BuiltinTools, BuiltinToolConfig{t.Name, t.FallbackContent, t.Destinations})
	}
	return next
}

// fixed returns the version that a config names, or nil if it follows the newest.
func (t VersionType) fixed(version int) *int {
	if t != VersionFixed {
		return nil
	}
	return &version
}
