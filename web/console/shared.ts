// The modules that pages need which are fetched later, and the console too. Each such page imports this file, so that
// all of them share one script with the console.
import "./managed";
import "./pages/act";
import "./pages/difference";
import "./pages/draft";
import "./pages/faults";
import "./pages/named_list";
import "./pages/player";
import "./pages/unsaved";
import "./pages/versions";
import "./pages/voice";
import "./parts/chart";
import "./parts/copy";
import "./parts/figures";
import "./parts/save";
