package contract

// Configs, prompts and tools have a name and numbered versions. Times in records
// are Unix milliseconds.

// VersionType is which version of a prompt or tool a config uses.
type VersionType string

// VersionFixed is a version that the config names; VersionLatest is the newest.
const (
	VersionFixed  VersionType = "FIXED"
	VersionLatest VersionType = "LATEST"
)

// RecordToolType is whether a tool in a record is the box's or the developer's.
type RecordToolType string

// The kinds of tools, as records spell them.
const (
	RecordBuiltin  RecordToolType = "BUILTIN"
	RecordFunction RecordToolType = "FUNCTION"
)

// PostedName is the body that renames a config, prompt or tool.
type PostedName struct {
	Name string `json:"name"`
}

func (PostedName) read(o object) PostedName { return PostedName{o.label("name", MaxNameChars)} }

// ParsePostedToolName parses the new name of a tool.
func ParsePostedToolName(data []byte) (PostedName, error) {
	return parseBody(data, readPostedToolName)
}

func readPostedToolName(o object) PostedName { return PostedName{o.label("name", MaxToolNameChars)} }

// PostedVersionDescription changes the description of a version; without one, it
// removes the old one.
type PostedVersionDescription struct {
	VersionDescription string `json:"version_description,omitempty"`
}

// ParsePostedVersionDescription parses the new description of a version. An empty
// body counts as {}: clients in the field send no body to remove a description.
func ParsePostedVersionDescription(data []byte) (PostedVersionDescription, error) {
	if len(data) == 0 {
		data = []byte("{}")
	}
	return parseBody(data, readPostedVersionDescription)
}

func readPostedVersionDescription(o object) PostedVersionDescription {
	return PostedVersionDescription{readVersionDescription(o)}
}

func readVersionDescription(o object) string {
	return o.multiline("version_description", MaxVersionDescriptionChars)
}

// Paging describes a page of a list.
type Paging struct {
	PageNumber int `json:"page_number"` // from 0
	PageSize   int `json:"page_size"`
	TotalPages int `json:"total_pages"`
}

// PromptExpansion is whether the box may add instructions for spoken
// conversations to a prompt.
type PromptExpansion struct {
	Enabled *bool `json:"enabled,omitempty"`
}

func readPromptExpansion(e object) PromptExpansion {
	return PromptExpansion{Enabled: e.booleanOrNil("enabled")}
}

// PostedPromptVersion is the body of a prompt's next version.
type PostedPromptVersion struct {
	Text               string           `json:"text"`
	VersionDescription string           `json:"version_description,omitempty"`
	PromptExpansion    *PromptExpansion `json:"prompt_expansion,omitempty"`
}

// PostedPrompt is the body of a new prompt.
type PostedPrompt struct {
	Name string `json:"name"`
	PostedPromptVersion
}

func (PostedPrompt) read(o object) PostedPrompt {
	return PostedPrompt{o.label("name", MaxNameChars), PostedPromptVersion{}.read(o)}
}

func (PostedPromptVersion) read(o object) PostedPromptVersion {
	o.require("text")
	return PostedPromptVersion{
		Text:               o.nonBlank("text", MaxPromptChars),
		VersionDescription: readVersionDescription(o),
		PromptExpansion:    optional(o, "prompt_expansion", readPromptExpansion),
	}
}

// ReturnPrompt is the record of one version of a prompt.
type ReturnPrompt struct {
	ID                 string           `json:"id"`
	Version            int              `json:"version"`
	VersionType        VersionType      `json:"version_type"`
	Name               string           `json:"name"`
	Text               string           `json:"text"`
	VersionDescription string           `json:"version_description,omitempty"`
	PromptExpansion    *PromptExpansion `json:"prompt_expansion,omitempty"`
	CreatedOn          int64            `json:"created_on"`
	ModifiedOn         int64            `json:"modified_on"`
}

// ReturnPagedPrompts is a page of prompts.
type ReturnPagedPrompts struct {
	Paging
	PromptsPage []ReturnPrompt `json:"prompts_page"`
}

// PostedUserDefinedToolVersion is the body of a tool's next version.
type PostedUserDefinedToolVersion struct {
	Parameters         string `json:"parameters"` // a JSON schema as text
	Description        string `json:"description,omitempty"`
	FallbackContent    string `json:"fallback_content,omitempty"`
	VersionDescription string `json:"version_description,omitempty"`
}

// PostedUserDefinedTool is the body of a new tool.
type PostedUserDefinedTool struct {
	Name string `json:"name"`
	PostedUserDefinedToolVersion
}

func (PostedUserDefinedTool) read(o object) PostedUserDefinedTool {
	return PostedUserDefinedTool{o.label("name", MaxToolNameChars), PostedUserDefinedToolVersion{}.read(o)}
}

func (PostedUserDefinedToolVersion) read(o object) PostedUserDefinedToolVersion {
	o.require("parameters")
	return PostedUserDefinedToolVersion{
		Parameters:         o.schema("parameters", MaxPromptChars),
		Description:        o.text("description", MaxToolDescriptionChars),
		FallbackContent:    o.text("fallback_content", MaxFallbackContentChars),
		VersionDescription: readVersionDescription(o),
	}
}

// ReturnUserDefinedTool is the record of one version of a tool.
type ReturnUserDefinedTool struct {
	ToolType           RecordToolType `json:"tool_type"`
	ID                 string         `json:"id"`
	Version            int            `json:"version"`
	VersionType        VersionType    `json:"version_type"`
	Name               string         `json:"name"`
	Parameters         string         `json:"parameters"`
	Description        string         `json:"description,omitempty"`
	FallbackContent    string         `json:"fallback_content,omitempty"`
	VersionDescription string         `json:"version_description,omitempty"`
	// The plugin that provides the tool. Such a tool is read-only, belongs to
	// every account and has one version.
	Plugin     string `json:"plugin,omitempty"`
	CreatedOn  int64  `json:"created_on"`
	ModifiedOn int64  `json:"modified_on"`
}

// ReturnPagedUserDefinedTools is a page of tools.
type ReturnPagedUserDefinedTools struct {
	Paging
	ToolsPage []ReturnUserDefinedTool `json:"tools_page"`
}
