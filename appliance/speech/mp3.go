package speech

import "parley/appliance/contract"

func newMP3Coder() (coder, error) { return nil, contract.ErrUnavailable{Why: "no mp3"} }
func newMP3Files() (coder, error) { return nil, contract.ErrUnavailable{Why: "no mp3"} }
