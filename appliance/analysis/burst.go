package analysis

import "parley/appliance/contract"

// bursts returns no bursts. A laugh, a sigh or a cough could only be told from speech and noise by a model that was
// trained on labelled ones. The box has none, and no such data to train or even to test one: a rule about rhythm or
// pitch would answer, but nobody could say how often it is wrong.
func bursts() *contract.ModelPredictions[contract.BurstPrediction] {
	return &contract.ModelPredictions[contract.BurstPrediction]{
		GroupedPredictions: []contract.Grouped[contract.BurstPrediction]{},
	}
}
