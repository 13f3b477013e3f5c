package face

import (
	"math"
	"slices"
)

const (
	// samePerson is the distance of an identity from the mean of a person's, below which it is that person's.
	// It was chosen on 141 faces of twelve pictures: 21 of 21 persons that were there twice, once small and
	// blurred, were recognised; a man in 26 pictures of many years was four persons, and a few women with
	// much make-up were one. Face-api's 0.6 is for the distance between two faces; for a mean it made half of
	// the persons one.
	samePerson = 0.47
	// maxRemembered is the most faces of a person whose mean is what others are compared to; a newer
	// face then counts as one of that many, so that the mean follows a person who turns.
	maxRemembered = 50
	// maxPeople bounds the persons: each costs 512 bytes, and a comparison with each later face. After that,
	// a face is taken for the person whom it resembles most.
	maxPeople = 1000
)

// People tells the persons of a video, or of some pictures, apart. The zero value knows nobody.
type People struct {
	known []person
}

type person struct {
	mean  Identity
	faces int
}

// Recognise returns a number for each of the faces of one picture, from 0 in order of appearance. No
// two faces of a picture are one person, unless there are more than maxPeople.
func (p *People) Recognise(faces []Face) []int {
	type pair struct {
		face, person int
		distance     float64
	}
	var near []pair
	for i, f := range faces {
		for j, known := range p.known {
			if d := apart(f.Identity, known.mean); d < samePerson {
				near = append(near, pair{i, j, d})
			}
		}
	}
	slices.SortStableFunc(near, func(a, b pair) int { return int(math.Copysign(1, a.distance-b.distance)) })
	numbers := make([]int, len(faces))
	for i := range numbers {
		numbers[i] = -1
	}
	for _, n := range near {
		if numbers[n.face] < 0 && !slices.Contains(numbers, n.person) {
			numbers[n.face] = n.person
		}
	}
	for i, f := range faces {
		switch {
		case numbers[i] >= 0:
		case len(p.known) < maxPeople:
			numbers[i] = len(p.known)
			p.known = append(p.known, person{})
		default:
			numbers[i] = p.nearest(f.Identity)
		}
		p.known[numbers[i]].add(f.Identity)
	}
	return numbers
}

// nearest returns the number of the known person whom a face resembles most.
func (p *People) nearest(one Identity) (number int) {
	least := math.Inf(1)
	for i, known := range p.known {
		if d := apart(one, known.mean); d < least {
			least, number = d, i
		}
	}
	return number
}

func (p *person) add(one Identity) {
	p.faces = min(p.faces+1, maxRemembered)
	for i, x := range one {
		p.mean[i] += (x - p.mean[i]) / float32(p.faces)
	}
}

// apart returns the distance between two identities.
func apart(a, b Identity) float64 {
	var sum float64
	for i := range a {
		d := float64(a[i] - b[i])
		sum += d * d
	}
	return math.Sqrt(sum)
}
