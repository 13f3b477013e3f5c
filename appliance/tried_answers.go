package appliance

import (
	"parley/appliance/answers"
	"parley/appliance/contract"
)

// triedAnswers finds approved answers for the API as the box does in chats.
type triedAnswers struct {
	*approved
	admission *admission
}

// Judge returns the model that weighs answers in the chats of a config; nil: there is none, or
// the models are being loaded.
func (t triedAnswers) Judge(c contract.ReturnConfig) answers.Judge {
	host := t.admission.host.Load()
	if host == nil {
		return nil
	}
	return host.Judge(c)
}
