package text

import "strings"

// A wordList is words between single spaces, with one in front and behind: a
// constant that needs no building.
type wordList string

func (l wordList) has(word string) bool {
	return strings.Contains(string(l), " "+word+" ")
}

// What a full stop behind these words means; all are written small, without
// the last full stop, and are never changed.
const (
	// titles stand before a name.
	titles wordList = " dr drs mr mrs ms messrs mx prof rev fr gen col capt cpt cmdr lt sgt cpl maj adm hon sen rep " +
		"gov pres supt mme mlle sra srta dña sres sta sto pza ctra edif ing avv arch geom sigg spett eng profa pça av "
	// neverEnd are followed by what they introduce.
	neverEnd wordList = " e.g i.e a.k.a exp viz eg ie vs cf approx ca al rs attn vit rev incl excl sig dott dra avda " +
		"aprox env bât dir obs ej p.ex p.es sig.na r.-de-ch "
	// powers stand before a unit, in small letters: a capital makes a square of one.
	// So does the "v." between the parties of a case, before a name.
	powers wordList = " sq cu v "
	// lives stand before a year, in small letters: circa, born, died. A capital is an
	// initial.
	lives wordList = " c b d "
	// numbered are followed by a number, or end a sentence like any word.
	numbered wordList = " op pt ref apt no nos fig figs vol pp p pg ch sec art eq jan feb mar apr jun jul aug sep " +
		"sept oct nov dec tel ext rm bldg lvl fl flr qty ea temp dep arr plat flt ste chap acc inv cat obj para tél " +
		"núm pág pag tfno n ap apto séc pop máx mín réf int rif cód cod sett págs janv févr avr juil déc ene abr dic " +
		"gen giu lug ott fev dez bin "
	// canEnd end a sentence when a capital follows.
	canEnd wordList = " sam dim dom ter lun mer jeu ven mié mie jue vie sáb gio sab seg qua qui sex mos wks gal tsp " +
		"tbsp mon tue tues wed thu thur thurs fri sat sun etc inc ltd co corp llc plc bros a.m p.m am pm dept est " +
		"govt assn min max hr hrs yr yrs oz lb lbs ft mi km kg cm mm tab tabs cap caps b.i.d t.i.d q.i.d p.r.n mtg " +
		"pls btl appt appts avg amt bal avail addl misc hosp univ mgr pkg pkgs ctr stn dia pkwy msg msgs assoc conf " +
		"pts pers ex es "
	// files and addresses end with these, written as names are.
	files wordList = " com net org edu gov io js ts py app "
	// places and relations stand before or behind a name; a capital behind them tells nothing.
	places wordList = " st ave rd blvd ln hwy sq mt jr sr esq ph.d m.d b.a m.a "
	// partOfDate go on after "9 a.m.".
	partOfDate wordList = " monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun jan " +
		"feb mar apr jun jul aug sep sept oct nov dec january february march april may june july august september " +
		"october november december est edt cst cdt mst mdt pst pdt gmt utc bst cet cest "
	// sentenceStarters begin a sentence far more often than they go on with a name.
	sentenceStarters wordList = " the a an it he she they we i you this that these those there here but and or if " +
		"when what how why where who which then so however our my your his her its their please yes no is are was " +
		"were do does did can could would will should let for on at in after before while also as at by from with " +
		"since because although though once "
)
