#compdef parley
# zsh completion for parley; see: parley completion --help

_parley() {
	local -a candidates
	local line word about files=
	for line in "${(@f)$("${(Q)words[1]/#\~/$HOME}" complete-line -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
		case $line in
		'') ;;
		:files | :folders) files=$line ;;
		*)
			word=${line%%$'\t'*} about=${line#*$'\t'}
			word=${word//:/\\:}
			if [[ $line == *$'\t'* ]]; then candidates+=("$word:$about"); else candidates+=("$word"); fi
			;;
		esac
	done
	(( $#candidates )) && _describe parley candidates
	[[ -z $files ]] && return
	compset -P '--*='
	if [[ $files == :files ]]; then _files; else _files -/; fi
}

# Read by compinit from a folder of $fpath, this file is the function itself;
# read with source, it makes itself known.
if [[ $funcstack[1] == _parley ]]; then
	_parley "$@"
else
	compdef _parley parley
fi
