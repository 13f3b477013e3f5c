// Package update replaces the installed Parley by the one of a release file, and goes back
// to the old one by itself if the new one does not answer.
//
// Everything that the update needs, and everything that the way back needs, lies in the
// folder of updates before the box is touched. From then on a journal on the disk holds
// the step, so that after a power cut the next start of the machine ends with one whole
// version: the new one if it had passed the check, else the old one.
package update

// Step is how far an update has come. The journal holds the step that began last.
type Step string

// The steps, in their order.
const (
	// Prepared: the folder of updates holds the new package, the old one, a copy of the
	// old program, and the new packs. The box runs the old version, untouched.
	Prepared Step = "prepared"
	// Stopping: the service of the old version stops.
	Stopping Step = "stopping"
	// Copying: the database, which nobody uses, is copied. Only if its schema changes.
	Copying Step = "copying"
	// Installing: dpkg replaces the package.
	Installing Step = "installing"
	// Replacing: the new packs take the place of the old ones, which move aside.
	Replacing Step = "replacing"
	// Checking: the service of the new version runs, and has to answer.
	Checking Step = "checking"
	// Keeping: the new version has answered and stays. What the way back needed is deleted.
	Keeping Step = "keeping"
	// Returning: the old version takes its place again.
	Returning Step = "returning"
	// Over: there is no update, and no journal.
	Over Step = ""
)

// next returns the step after one that succeeded.
func next(s Step) Step {
	switch s {
	case Prepared:
		return Stopping
	case Stopping:
		return Copying
	case Copying:
		return Installing
	case Installing:
		return Replacing
	case Replacing:
		return Checking
	case Checking:
		return Keeping
	}
	return Over
}

// afterFailure returns the step after one that failed, or that a power cut ended. Until
// the new version has passed the check, the way is back. Keeping and Returning are
// repeated until they succeed; each of their acts may be done twice.
func afterFailure(s Step) Step {
	switch s {
	case Keeping, Over:
		return s
	}
	return Returning
}
