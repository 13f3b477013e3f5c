package face

// ClassNames returns the names of the classes, as folders of FER2013 have them.
func ClassNames() []string {
	return []string{"angry", "disgust", "fear", "happy", "sad", "surprise", "neutral"}
}

// Class returns the likeliest class.
func (f Face) Class() string {
	best := 0
	for i, p := range f.Classes {
		if p > f.Classes[best] {
			best = i
		}
	}
	return ClassNames()[best]
}
