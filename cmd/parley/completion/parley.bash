# bash completion for parley; see: parley completion --help

_parley() {
	# Readline cuts words at : and = as well. They are put together again, up
	# to the cursor.
	local words=() rest=${COMP_LINE:0:COMP_POINT} word i
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]:-}
		if ((i == 0)) || [[ $rest == [[:space:]]* ]]; then
			rest=${rest#"${rest%%[![:space:]]*}"}
			words+=("")
		fi
		word=${word:0:${#rest}}
		rest=${rest#"$word"}
		words[${#words[@]} - 1]+=${word//[\"\'\\]/}
	done

	# Readline replaces only what stands behind the last of these marks.
	local current=${words[${#words[@]} - 1]}
	[[ $word == [:=] ]] && word=
	local replaced=${current%"$word"}

	local line value=${current#*=}
	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:files) compopt -o filenames; while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$value") ;;
		:folders) compopt -o filenames; while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "$value") ;;
		*) line=${line%%$'\t'*}; COMPREPLY+=("${line#"$replaced"}") ;;
		esac
	done < <("${words[0]/#\~/$HOME}" complete-line -- "${words[@]:1}" 2>/dev/null)
}

complete -F _parley parley
