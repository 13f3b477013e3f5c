package face

import "math"

// marks are the points of a face that align its picture, in pixels of the whole picture.
type marks struct {
	leftEye, rightEye, mouth point // left in the picture
	all                      [68]point
}

type point struct{ x, y float64 }

// marksOf returns the marks of landmarks that are parts of a frame.
func marksOf(landmarks [68][2]float64, around frame) (m marks) {
	sin, cos := math.Sincos(around.angle)
	for i, l := range landmarks {
		u, v := (l[0]-0.5)*around.side, (l[1]-0.5)*around.side
		m.all[i] = point{around.x + u*cos - v*sin, around.y + u*sin + v*cos}
	}
	// The numbers of the markup: 36–41 and 42–47 are the eyes, 48–67 the mouth.
	m.leftEye, m.rightEye, m.mouth = centre(m.all[36:42]), centre(m.all[42:48]), centre(m.all[48:68])
	return m
}

func centre(points []point) (c point) {
	for _, p := range points {
		c.x += p.x / float64(len(points))
		c.y += p.y / float64(len(points))
	}
	return c
}

func between(a, b point) point { return point{(a.x + b.x) / 2, (a.y + b.y) / 2} }

func distance(a, b point) float64 { return math.Hypot(a.x-b.x, a.y-b.y) }

// roll is the angle of the line through the eyes, clockwise.
func (m marks) roll() float64 {
	return math.Atan2(m.rightEye.y-m.leftEye.y, m.rightEye.x-m.leftEye.x)
}

// frame returns the frame that a box is.
func (b Box) frame() frame { return frame{b.X + b.Side/2, b.Y + b.Side/2, b.Side, 0} }

const (
	// expressionScale is the side of the frame for the expression, in distances from the eyes to the mouth.
	// expressionDrop is how far its centre is below the middle of the eyes, in the same unit.
	expressionScale = 2.5
	expressionDrop  = 0.4
	// identityPadding is the side of the frame for the identity, in sides of the square around all points.
	identityPadding = 1.2
)

// expressionFrame returns the frame that shows a face as those of FER2013 are shown: level, and with
// little around it.
func (m marks) expressionFrame() frame {
	eyes, roll := between(m.leftEye, m.rightEye), m.roll()
	unit := math.Max(distance(eyes, m.mouth), distance(m.leftEye, m.rightEye))
	sin, cos := math.Sincos(roll)
	return frame{eyes.x - sin*unit*expressionDrop, eyes.y + cos*unit*expressionDrop, unit * expressionScale, roll}
}

// identityFrame returns the frame around all points, level.
func (m marks) identityFrame() frame {
	roll := m.roll()
	sin, cos := math.Sincos(roll)
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, p := range m.all {
		u, v := p.x*cos+p.y*sin, p.y*cos-p.x*sin
		left, right = math.Min(left, u), math.Max(right, u)
		top, bottom = math.Min(top, v), math.Max(bottom, v)
	}
	u, v := (left+right)/2, (top+bottom)/2
	side := math.Max(right-left, bottom-top) * identityPadding
	return frame{u*cos - v*sin, u*sin + v*cos, side, roll}
}
