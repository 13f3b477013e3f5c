package api

import (
	"maps"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
)

// descriptions are the OpenAPI descriptions of routes, by method and path.
type descriptions map[string]describe.Operation

// inSection sets the section of all descriptions.
func inSection(name string, all descriptions) descriptions {
	for route, o := range all {
		o.Section = name
		all[route] = o
	}
	return all
}

// allDescriptions returns the descriptions of all routes.
func allDescriptions() descriptions {
	all := descriptions{}
	for _, some := range []descriptions{
		aboutLiveChats(),
		aboutCalls(),
		aboutToken(),
		aboutModels(),
		aboutChats(),
		aboutChatSearch(),
		aboutChatGroups(),
		aboutAudio(),
		aboutSpeech(),
		aboutConversion(),
		aboutOpenAI(),
		aboutModelStream(),
		aboutBatch(),
		aboutConfigs(),
		aboutPrompts(),
		aboutTools(),
		aboutAnswers(),
		aboutAnswersSheet(),
		aboutVoices(),
		aboutLexicon(),
		aboutPlugins(),
		aboutKeys(),
		aboutKiosks(),
		aboutAliases(),
		aboutWebhooks(),
		aboutPacks(),
		aboutHealth(),
		aboutActs(),
		aboutFleet(),
		aboutRollouts(),
		aboutPairing(),
		aboutPages(),
		aboutSessions(),
		aboutPassword(),
		aboutSetUp(),
		aboutSpeaker(),
		aboutPhone(),
		aboutPhoneStream(),
		aboutBox(),
		aboutDescriptions(),
	} {
		maps.Copy(all, some)
	}
	return all
}

func ok(v any) []describe.Answer { return []describe.Answer{{Status: 200, Value: v}} }

func created(v any) []describe.Answer { return []describe.Answer{{Status: 201, Value: v}} }

// ofType describes an answer with a media type other than JSON.
func ofType(media string) []describe.Answer { return []describe.Answer{{Status: 200, Media: media}} }

// unchanged describes the answer to a client that has the newest version, by its
// ETag.
func unchanged() describe.Answer {
	return describe.Answer{Status: 304, Description: "Not changed since If-None-Match"}
}

// parameter describes one parameter of the query.
func parameter(name, says string, schema *describe.Schema) describe.Parameter {
	return describe.Parameter{Name: name, Description: says, Schema: schema}
}

// pageQuery describes the parameters of readPage.
func pageQuery() []describe.Parameter {
	return []describe.Parameter{
		{Name: "page_number", Description: "The page, from 0. A page past the end is empty.",
			Schema: describe.Integer(0, maxPageNumber).WithDefault(0)},
		{Name: "page_size", Description: "How many entries a page has.",
			Schema: describe.Integer(1, contract.MaxPageSize).WithDefault(contract.DefaultPageSize)},
	}
}
