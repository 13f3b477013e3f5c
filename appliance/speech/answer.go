package speech

import (
	"context"
	"io"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// Stream says all of it, and sends the messages as their sound is made: chunks,
// and the times of what ends in them.
func (j *Job) Stream(ctx context.Context, send func(contract.TTSMessage) error) error {
	p := newPacing()
	for _, t := range j.takes {
		files, err := newCoder(j.Format(), j.asked.StripHeaders)
		if err != nil {
			return err
		}
		index := 0
		err = j.speak(ctx, t, p, func(s piece) error {
			data, err := files.next(s.pcm, s.last && s.snippet.last)
			if err != nil {
				return err
			}
			if len(data) > 0 || s.last {
				if err := send(j.chunk(t, s, data, index)); err != nil {
					return err
				}
				index++
			}
			if s.last {
				index = 0
			}
			for _, at := range s.times {
				if err := send(contract.TimestampMessage{GenerationID: t.id, RequestID: j.asked.RequestID, SnippetID: s.snippet.id, Timestamp: at}); err != nil {
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

func (j *Job) chunk(t *take, s piece, data []byte, index int) contract.SnippetAudioChunk {
	return contract.SnippetAudioChunk{
		Audio: filled(data), AudioFormat: j.Format(), ChunkIndex: index, GenerationID: t.id, IsLastChunk: s.last, RequestID: j.asked.RequestID,
		SnippetID: s.snippet.id, Text: s.snippet.text, TranscribedText: s.heard, UtteranceIndex: s.snippet.utterance,
	}
}

// filled makes an empty text of no bytes, not a null.
func filled(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// betweenGenerations is the silence between the generations of one file.
const betweenGenerations = time.Second

// File says all of it, and writes it as one file while it is made. What is cut
// off can be played as far as it goes.
func (j *Job) File(ctx context.Context, w io.Writer) error {
	file, err := newCoder(j.Format(), true)
	if err != nil {
		return err
	}
	p := newPacing()
	for i, t := range j.takes {
		err := j.speak(ctx, t, p, func(s piece) error {
			last := s.last && s.snippet.last
			end := last && i == len(j.takes)-1
			if last && !end {
				s.pcm = append(s.pcm, make([]float32, audio.Samples(betweenGenerations, contract.OutputRateHz))...)
			}
			data, err := file.next(s.pcm, end)
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

// Whole says all of it and returns it in one.
func (j *Job) Whole(ctx context.Context) (contract.ReturnTTS, error) {
	answer := contract.ReturnTTS{RequestID: j.asked.RequestID}
	if err := j.hold(ctx); err != nil {
		return answer, err
	}
	p := newPacing()
	for _, t := range j.takes {
		g := contract.ReturnGeneration{GenerationID: t.id, Encoding: contract.AudioEncoding{Format: j.Format(), SampleRate: contract.OutputRateHz}, Snippets: make([][]contract.Snippet, len(t.lines))}
		var all, one []float32
		var times []contract.Timestamp
		files, err := newCoder(j.Format(), j.asked.StripHeaders)
		if err != nil {
			return answer, err
		}
		err = j.speak(ctx, t, p, func(s piece) error {
			all, one, times = append(all, s.pcm...), append(one, s.pcm...), append(times, s.times...)
			if !s.last {
				return nil
			}
			data, err := files.next(one, s.snippet.last)
			if err != nil {
				return err
			}
			u := s.snippet.utterance
			g.Snippets[u] = append(g.Snippets[u], contract.Snippet{
				Audio: filled(data), GenerationID: t.id, ID: s.snippet.id, Text: s.snippet.text, Timestamps: append([]contract.Timestamp{}, times...),
				TranscribedText: s.heard, UtteranceIndex: u,
			})
			one, times = one[:0], times[:0]
			return nil
		})
		if err != nil {
			return answer, err
		}
		file, err := newCoder(j.Format(), false)
		if err != nil {
			return answer, err
		}
		if g.Audio, err = file.next(all, true); err != nil {
			return answer, err
		}
		g.Audio = filled(g.Audio)
		g.FileSize, g.Duration = len(g.Audio), float64(len(all))/contract.OutputRateHz
		answer.Generations = append(answer.Generations, g)
	}
	return answer, nil
}

// WholeFile says all of it and returns it as one file, whose header knows how
// long it is.
func (j *Job) WholeFile(ctx context.Context) ([]byte, error) {
	if err := j.hold(ctx); err != nil {
		return nil, err
	}
	var all []float32
	p := newPacing()
	for i, t := range j.takes {
		if i > 0 {
			all = append(all, make([]float32, audio.Samples(betweenGenerations, contract.OutputRateHz))...)
		}
		if err := j.speak(ctx, t, p, func(s piece) error { all = append(all, s.pcm...); return nil }); err != nil {
			return nil, err
		}
	}
	file, err := newCoder(j.Format(), false)
	if err != nil {
		return nil, err
	}
	return file.next(all, true)
}
