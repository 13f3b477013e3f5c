package contract

// PhoneMedia is the sound of a call: how it travels, and how well it arrives.
type PhoneMedia struct {
	Codec     string `json:"codec,omitempty"` // PCMU, PCMA, G722 or opus, once it is negotiated
	Encrypted bool   `json:"encrypted"`       // whether the sound is encrypted on its way
	// Packets of the sound that the box receives.
	PacketsReceived int     `json:"packets_received"`
	PacketsLost     int     `json:"packets_lost"`
	JitterMS        float64 `json:"jitter_ms"` // of the same packets
	// Absent if the far end reports none.
	RoundTripMS float64 `json:"round_trip_ms,omitempty"`
}
