package clerk

import (
	"regexp"
	"strings"
	"testing"
)

// desks are of several trades; each has questions that follow from its facts by
// reckoning, and such as do not.
var desks = map[string]string{
	"hire": `You are at the desk of a bicycle hire.
- A bike is 14 dollars a day. A child's seat is 9 dollars a day. An e-bike is 30 dollars a day.
- A lock is 2 dollars. A helmet is 5 dollars. For children under 16, a helmet is 3 dollars.
- People of 18 or over may rent an e-bike.
- Children under 16 must wear a helmet.`,
	"pool": `You are the voice of the Lido pool.
- An adult pays 7 dollars, a child 4. Children under 3 are free.
- A locker is 1 dollar.
- Under 12s are not allowed in the sauna.
- Only guests aged 16 and above may use the gym.
- Children under 10 may swim in the deep basin only with an adult.`,
	"clinic": `You answer at a clinic.
- A flu shot costs 25 dollars, for over-65s it is free. A travel shot costs 60 dollars.
- A blood test costs 40 dollars. A certificate is 10 dollars.
- The minimum age for giving blood is 18.`,
	"hotel": `You are the front desk of a hotel.
- A double room is 110 dollars a night, a single room 80 dollars a night.
- Breakfast is 12 dollars per person. For children between 3 and 11, breakfast is 6 dollars. Parking is 8 dollars a ` +
		`night.
- The spa is for guests from the age of 16.`,
	"garage": `You are at a garage.
- An oil change is 60 euros. A tyre costs 90 euros. Fitting a tyre costs 15 euros. A car wash is 12 euros.
- A rental car is 45 euros a day. You must be at least 21 to rent a car.`,
	"theatre": `You are at the box office of a theatre.
- A seat in the stalls costs 40 pounds, a seat in the gallery 22 pounds. A programme is 3 pounds.
- Students pay half. Young people up to and including 18 pay 10 pounds.
- The late show is for visitors of 18 or older.
- Groups over 10 get a discount.`,
	"ferry": `You are the voice of a ferry.
- An adult ticket is 10 dollars, a child ticket 5 dollars. A bicycle is 4 dollars, a car 25 dollars.
- Children under 4 travel free. A cabin is 30 dollars each.
- Passengers under 14 may not travel alone.`,
	"school": `You are at a school kitchen.
- A lunch costs 4 dollars. A drink is 1 dollar and a dessert is 2 dollars. A soup is 1.50 dollars.
- Pupils from 6 to 10 pay 3 dollars for a lunch.`,
	"museum": `You are the voice at the entrance of the Clock Museum.
- A ticket for an adult costs 14 dollars.
- A ticket for a student costs 9 dollars.
- Visitors under 16 enter free.`,
	"fair": `You are at a fair.
- An adult is 14 dollars, a child 9 dollars. A family ticket for two adults and two children is 36 dollars.
- A boat is 10 dollars an hour or 50 dollars a day. On Mondays a swing is 2 dollars.
- A canoe is 8 dollars an hour, the first hour is free. A pony ride is 6 dollars, every third ride is free.
- Children under 12 pay only 4 dollars and may use the slide.`,
	"flowers": `hi you are the nice assistant of my flower shop. we are open mo-fr 8-18. roses are 3.50 each, tulips ` +
		`1.80, delivery in town is 6 dollars (free over 50).`,
	"bridges": `You are the voice of a museum.
- Adults pay 13 dollars, students 8 dollars.
- Under 14 is free.`,
	"bikes": `You are the voice of a bicycle shop.
- A full service costs 95 dollars and takes five days.
- Renting a city bike costs 18 dollars a day. Helmets are lent free of charge with every rented bike.
- Printing a map costs 10 cents a page.`,
	"shots": `You are the voice of a clinic.
- A flu vaccination costs 20 dollars. A travel vaccination costs 55 dollars.
- Children under 12 are not treated here. Children under 14 are not allowed in the laboratory.`,
	"laundry": `You are at a laundry.
- A wash is $4, a dryer is $2 an hour. A shirt costs $3 and a suit costs $11. Soap is 50 cents.`,
}

var exactRoot = regexp.MustCompile(`^root ::= "([^"]*, that is)"\n`)

// says is what the clerk has to say to a question.
func says(d *Desk, asked string) string {
	if s := d.Sum(asked); s != nil {
		g := s.Grammar("unknown")
		if m := exactRoot.FindStringSubmatch(g); m != nil {
			rest, _, _ := s.Total(m[1])
			return m[1] + rest
		}
		if g == "root ::= \"unknown\"\n" {
			return "unknown"
		}
		return "the model's sum"
	}
	if o := d.Opening(asked); o != "" {
		return o
	}
	return [...]string{"", "yes", "no", "refused", "untold", "granted", "errand"}[d.Answers(asked, "")]
}

func TestWhatIsReckonedAtDesksOfSeveralTrades(t *testing.T) {
	for _, row := range []struct{ desk, asked, want string }{
		{"hire", "My daughter is ten, what does a helmet cost?", "For children under 16, a helmet is 3 dollars."},
		{"hire", "She's twelve. What's the price of a helmet for her?",
			"For children under 16, a helmet is 3 dollars."},
		{"hire", "What does a helmet cost for a ten-year-old?", "For children under 16, a helmet is 3 dollars."},
		{"hire", "My kids are 4 and 7. What does a helmet cost?", "For children under 16, a helmet is 3 dollars."},
		{"hire", "My kids are 14 and 17. What does a helmet cost?", ""},
		{"hire", "My son is 16, what does a helmet cost?", ""},
		{"hire", "My daughter is ten, what does a lock cost?", ""},
		{"hire", "I'm seventeen, may I rent an e-bike?", "no"},
		{"hire", "I’m seventeen. Can I rent an e-bike?", "no"},
		{"hire", "I'm nineteen, may I rent an e-bike?", "granted"},
		{"hire", "I'm eighteen, can I rent an e-bike?", "granted"},
		{"hire", "I'm seventeen, may I rent a bike?", ""},
		{"hire", "I'm seventeen, may I rent a helmet?", ""},
		{"hire", "What do two bikes and a seat cost?", "2 times 14 plus 9, that is 37 dollars a day."},
		{"hire", "What do two bikes and a child's seat cost?", "2 times 14 plus 9, that is 37 dollars a day."},
		{"hire", "How much is it for two bikes and a child's seat for three days?",
			"2 times 3 times 14 plus 3 times 9, that is 111 dollars."},
		{"hire", "How much are two e-bikes and a lock?", "2 times 30 plus 2, that is 62 dollars."},
		{"hire", "How much are two e-bikes and a lock for three days?", "the model's sum"},
		{"hire", "What do two bikes and a trailer cost?", "unknown"},
		{"hire", "What do two helmets cost?", "2 times 5, that is 10 dollars."},
		{"hire", "What do two bikes cost for three hours?", "the model's sum"},
		{"pool", "What do two adults and a child pay?", "2 times 7 plus 4, that is 18 dollars."},
		{"pool", "We are two adults and a child of two. What do we pay?", "2 times 7 plus 0, that is 14 dollars."},
		{"pool", "What do we pay for two adults and three lockers?", "2 times 7 plus 3 times 1, that is 17 dollars."},
		{"pool", "My baby is one. What does she pay?", "Children under 3 are free."},
		{"pool", "My son is 11. May he use the sauna?", "no"},
		{"pool", "My son is 12, may he use the sauna?", "granted"},
		{"pool", "I'm fifteen. Can I use the gym?", "no"},
		{"pool", "I'm sixteen, can I use the gym?", "granted"},
		{"pool", "My son is nine, may he swim in the deep basin?", ""},
		{"clinic", "My mother is seventy. What does a flu shot cost for her?", "For over-65s it is free."},
		{"clinic", "I'm 65, what does a flu shot cost?", ""},
		{"clinic", "I'm 70, what does a blood test cost?", ""},
		{"clinic", "I'm seventeen. May I give blood?", "no"},
		{"clinic", "What do a blood test and a certificate cost together?", "40 plus 10, that is 50 dollars."},
		{"clinic", "What do a blood test and a massage cost together?", "unknown"},
		{"hotel", "What do two double rooms for three nights cost?", "2 times 3 times 110, that is 660 dollars."},
		{"hotel", "What does a single room cost for four nights?", "4 times 80, that is 320 dollars."},
		{"hotel", "What do two rooms cost?", "the model's sum"},
		{"hotel", "My girl is five. What does breakfast cost for her?",
			"For children between 3 and 11, breakfast is 6 dollars."},
		{"hotel", "I'm fifteen, can I use the spa?", "no"},
		{"hotel", "What does breakfast cost for three people?", "the model's sum"},
		{"garage", "What do four tyres and an oil change cost?", "4 times 90 plus 60, that is 420 euros."},
		{"garage", "What do an oil change and a car wash cost?", "60 plus 12, that is 72 euros."},
		{"garage", "What does a rental car cost for five days?", "5 times 45, that is 225 euros."},
		{"garage", "I'm twenty, may I rent a car?", "no"},
		{"garage", "I am 21. Can I rent a car?", "granted"},
		{"theatre", "I'm 18. What does a ticket cost for me?", "Young people up to and including 18 pay 10 pounds."},
		{"theatre", "I'm 17, can I see the late show?", "no"},
		{"theatre", "What do two students pay?", "the model's sum"},
		{"theatre", "I am 12. What does a programme cost?", ""},
		{"ferry", "What do two adults and a car cost?", "2 times 10 plus 25, that is 45 dollars."},
		{"ferry", "How much is it for two adult tickets, a child ticket and two bicycles?",
			"2 times 10 plus 5 plus 2 times 4, that is 33 dollars."},
		{"ferry", "What do two adults and a horse cost?", "unknown"},
		{"ferry", "My son is 12, may he travel alone?", ""},
		{"ferry", "What do two adults and a child of three pay?", "2 times 10 plus 0, that is 20 dollars."},
		{"school", "How much are three lunches and two drinks?", "3 times 4 plus 2 times 1, that is 14 dollars."},
		{"school", "How much are two drinks and a dessert?", "2 times 1 plus 2, that is 4 dollars."},
		{"school", "My daughter is 8. What does lunch cost?", "Pupils from 6 to 10 pay 3 dollars for a lunch."},
		{"school", "How much are three soups?", "3 times 1.50, that is 4 dollars and 50 cents."},
		{"laundry", "What do three shirts and a suit cost?", "3 times 3 dollars plus 11 dollars, that is 20 dollars."},
		{"laundry", "What do a wash and two hours of drying cost?", "the model's sum"},
		{"laundry", "What do two shirts without starch cost?", "the model's sum"},
		{"museum", "What do two adults and a student pay?", "2 times 14 plus 9, that is 37 dollars."},
		{"museum", "What do two tickets cost?", "the model's sum"},
		{"museum", "What do an adult and a child of five pay?", "the model's sum"},
		{"fair", "What do two adults and two children pay?", ""},
		{"fair", "What do two boats cost for three hours?", "the model's sum"},
		{"fair", "What do two swings cost?", "the model's sum"},
		{"fair", "What do two canoes cost for three hours?", "the model's sum"},
		{"fair", "What do three pony rides cost?", "the model's sum"},
		{"fair", "I'm thirty, may I use the slide?", ""},
		{"laundry", "It is ten. What does a wash cost?", ""},
		{"laundry", "What does a wash cost for three years?", ""},
		{"bridges", "What do two adults and a child of ten pay?", "2 times 13 plus 0, that is 26 dollars."},
		{"bridges", "What do two adults and a child of fifteen pay?", "the model's sum"},
		{"bikes", "What would two city bikes cost me for three days?",
			"2 times 3 times 18 dollars, that is 108 dollars."},
		{"bikes", "What does it cost to print thirty pages?", "30 times 10 cents, that is 3 dollars."},
		{"bikes", "What does it cost to eat thirty pages?", "the model's sum"},
		{"shots", "What are two flu shots together?", "the model's sum"},
		{"shots", "My daughter is nine, can she see a doctor?", "refused"},
		{"shots", "My daughter is twelve, can she see a doctor?", ""},
		{"shots", "My daughter is thirteen, can she see a doctor?", ""},
	} {
		if got := says(Read(desks[row.desk]), row.asked); got != row.want {
			t.Errorf("%s: %q: %q, want %q", row.desk, row.asked, got, row.want)
		}
	}
}

// Each thing that is named is one term of a sum; free is only what may be meant.
func TestASumHasATermForEachThing(t *testing.T) {
	for _, row := range []struct{ desk, asked, grammar string }{
		{"flowers", "What do ten roses cost?", `sum ::= "10 times " item` + "\n"},
		{"flowers", "What do ten roses cost?", `price ::= "3.50" | "1.80" | "6"` + "\n"},
		{"bridges", "What do two adults and a child of fifteen pay?", `sum ::= "2 times " item " plus " item` + "\n"},
		{"bridges", "What do two adults and a child of fifteen pay?", ` | "0"` + "\n"},
		{"bikes", "What do two mountain bikes cost for three days?", `sum ::= "2 times " ("3 times ")? item` + "\n"},
	} {
		s := Read(desks[row.desk]).Sum(row.asked)
		if s == nil {
			t.Errorf("%s: %q is no sum", row.desk, row.asked)
		} else if g := s.Grammar("unknown"); !strings.Contains(g, row.grammar) {
			t.Errorf("%s: %q: %s has no %s", row.desk, row.asked, g, row.grammar)
		}
	}
	if said, value, ok := Read(desks["flowers"]).Sum("What do ten roses cost?").Total("10 times 3.50, that is"); !ok ||
		value != 35 || said != " 35 dollars." {
		t.Errorf("%q, %v, %v", said, value, ok)
	}
	if said, _, ok := Read("Roses are 3.50 each, tulips 1.80.").Sum("What do three roses cost?").Total(
		"3 times 3.50, that is"); !ok || said != " 10.50." {
		t.Errorf("without a currency: %q, %v", said, ok)
	}
	if said, _, ok := Read(desks["bikes"]).Sum("What do two mountain bikes cost for three days?").Total(
		"2 times 3 times 18 dollars, that is"); !ok || said != " 108 dollars." {
		t.Errorf("for three days: %q, %v", said, ok)
	}
}
