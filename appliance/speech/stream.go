package speech

import (
	"context"
	"io"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// Stream synthesises all generations and sends messages while the sound is made: chunks, and
// the times of the words and phonemes that end in them.
func (j *Job) Stream(ctx context.Context, send func(contract.TTSMessage) error) error {
	p := newPlayback()
	for _, gen := range j.generations {
		files, err := newEncoder(j.Format(), j.request.StripHeaders)
		if err != nil {
			return err
		}
		index := 0
		err = j.speak(ctx, gen, p, func(s piece) error {
			data, err := files.encode(s.pcm, s.last && s.snippet.last)
			if err != nil {
				return err
			}
			if len(data) > 0 || s.last {
				if err := send(j.chunk(gen, s, data, index)); err != nil {
					return err
				}
				index++
			}
			if s.last {
				index = 0
			}
			for _, at := range s.times {
				if err := send(contract.TimestampMessage{
					GenerationID: gen.id,
					RequestID:    j.request.RequestID,
					SnippetID:    s.snippet.id,
					Timestamp:    at,
				}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (j *Job) chunk(gen *generation, s piece, data []byte, index int) contract.SnippetAudioChunk {
	return contract.SnippetAudioChunk{
		Audio:           nonNil(data),
		AudioFormat:     j.Format(),
		ChunkIndex:      index,
		GenerationID:    gen.id,
		IsLastChunk:     s.last,
		RequestID:       j.request.RequestID,
		SnippetID:       s.snippet.id,
		Text:            s.snippet.text,
		TranscribedText: s.heard,
		UtteranceIndex:  s.snippet.utteranceIndex,
	}
}

// nonNil returns an empty slice for nil, so that JSON has an empty string and not null.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// betweenGenerations is the silence between the generations of one file.
const betweenGenerations = time.Second

// File synthesises all generations and writes them as one file while it is made. A file that is
// cut off can be played up to that point.
func (j *Job) File(ctx context.Context, w io.Writer) error {
	file, err := newEncoder(j.Format(), true)
	if err != nil {
		return err
	}
	p := newPlayback()
	for i, gen := range j.generations {
		err := j.speak(ctx, gen, p, func(s piece) error {
			last := s.last && s.snippet.last
			end := last && i == len(j.generations)-1
			if last && !end {
				s.pcm = append(s.pcm, make([]float32, audio.Samples(betweenGenerations, contract.OutputRateHz))...)
			}
			data, err := file.encode(s.pcm, end)
			if err != nil || len(data) == 0 {
				return err
			}
			_, err = w.Write(data)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Sound synthesises all generations and passes their samples, at a rate, to emit as they are made.
func (j *Job) Sound(ctx context.Context, rateHz int, emit func(pcm []float32) error) error {
	rate, err := audio.NewResampler(contract.OutputRateHz, rateHz)
	if err != nil {
		return err
	}
	p := newPlayback()
	for _, gen := range j.generations {
		if err := j.speak(ctx, gen, p, func(s piece) error { return emit(rate.Process(nil, s.pcm)) }); err != nil {
			return err
		}
	}
	return emit(rate.Flush(nil))
}
