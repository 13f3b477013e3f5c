#!/bin/sh
# Installs Parley and its models on a Debian that needs no network. This file is a release
# file, which parley bundle makes: this script, and a tar archive behind it.
#
#   sudo sh FILE           installs; run again after an interruption, it completes
#   sh FILE --check        checks that the file is intact and fits this machine
#   sh FILE --extract DIR  unpacks the parts into the new folder DIR
#
# It uses only what the smallest Debian has. Nothing changes before every part is checked.
set -u
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin" DEBIAN_FRONTEND=noninteractive
unset POSIXLY_CORRECT TAR_OPTIONS
umask 022

file=$0
start=32768                 # where the archive begins
chunk=67108864              # bytes between two reports of progress: a second or less
spare_kb=262144             # what must stay free on each disk: a box stores conversations
stage=/var/lib/parley-install
packs=/var/cache/parley/packs
settings=/etc/parley/parley.yaml
folder=                     # a temporary folder to remove at the end

say() { printf '%s\n' "$*"; }

die() {
	printf 'parley: %s\n' "$*" >&2
	exit 1
}

finish() {
	rc=$?
	trap - EXIT INT TERM HUP
	[ -z "$folder" ] || rm -rf "$folder"
	exit $rc
}

interrupted() {
	printf '\nparley: interrupted: run the command again; it completes\n' >&2
	exit 130
}

usage() {
	say "Usage: sudo sh $file            install Parley $version and its models"
	say "       sh $file --check         check the file and this machine, change nothing"
	say "       sh $file --extract DIR   unpack the parts into the new folder DIR"
}

# part OFFSET BYTES prints bytes of this file.
part() {
	dd if="$file" bs=1M iflag=skip_bytes,count_bytes,fullblock skip="$1" count="$2" status=none
}

# stream OFFSET BYTES TITLE is part with progress on a terminal.
stream() {
	done=0
	while [ "$done" -lt "$2" ]; do
		n=$(($2 - done))
		[ $n -le $chunk ] || n=$chunk
		part $(($1 + done)) $n || return 1
		done=$((done + n))
		[ ! -t 2 ] || [ "$2" -le $chunk ] || printf '\r%s: %d %%  ' "$3" $((100 * done / $2)) >&2
	done
	[ ! -t 2 ] || [ "$2" -le $chunk ] || printf '\r%*s\r' $((${#3} + 10)) '' >&2
}

padded() { echo $((($1 + 511) / 512 * 512)); }

# member OFFSET NAME sets size to the size of the archive's member NAME, if it is there.
member() {
	size=
	[ "$(part "$1" ${#2})" = "$2" ] || return 1
	size=$(part $(($1 + 124)) 11)
	case $size in '' | *[!0-7]*) return 1 ;; esac
	size=$((0$size))
}

# field NAME prints a field of the manifest.
field() { printf '%s\n' "$manifest" | sed -n "s/^ \"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\$/\1/p"; }

# script_sum prints the SHA-256 of this script, as the manifest has it.
script_sum() { printf '%s\n' "$manifest" | sed -n 's/^  "sha256": "\(.*\)"$/\1/p'; }

# parts prints a line for each part: its offset, size, SHA-256 and name.
parts() {
	printf '%s\n' "$manifest" | sed -n 's/^   "name": "\(.*\)",$/\1/p; s/^   "bytes": \(.*\),$/\1/p
		s/^   "sha256": "\(.*\)"$/\1/p' | awk -v at="$first" '
		NR % 3 == 1 { name = $0 }
		NR % 3 == 2 { bytes = $0 }
		NR % 3 == 0 {
			printf "%.0f %.0f %s %s\n", at + 512, bytes, $0, name
			at += 512 + int((bytes + 511) / 512) * 512
		}
		END { printf "%.0f\n", at + 1024 }'
}

read_manifest() {
	[ -f "$file" ] || die "this script is the beginning of a file: save the file, then run: sh FILE"
	broken="$file is damaged: copy it again"
	member $start manifest.json || die "$broken"
	manifest=$(part $((start + 512)) "$size")
	# parley bundle install has checked the signature of this manifest, which covers the rest.
	[ -z "${MANIFEST_SHA256-}" ] ||
		[ "$(printf '%s\n' "$manifest" | sha256sum | cut -c 1-64)" = "$MANIFEST_SHA256" ] ||
		die "$file was changed after its signature was checked"
	first=$((start + 512 + $(padded "$size")))
	if member $first manifest.sig; then first=$((first + 512 + $(padded "$size"))); fi
	version=$(field version) arch=$(field arch) suite=$(field suite) packs_bytes=$(field packs_bytes)
	profile=$(field profile)
	list=$(parts)
	end=$(printf '%s\n' "$list" | tail -n 1)
	list=$(printf '%s\n' "$list" | sed '$d')
	[ -n "$version" ] && [ -n "$list" ] || die "$broken"
}

# check_file checks the whole file.
check_file() {
	bytes=$(wc -c <"$file")
	[ "$bytes" = "$end" ] || die "$file has $bytes bytes, and should have $end: copy it again"
	say "Checking $file ($((bytes / 1000000)) MB)"
	[ "$(part 0 $start | sha256sum | cut -c 1-64)" = "$(script_sum)" ] || die "$broken"
	while read -r at bytes sum name; do
		[ "$(stream "$at" "$bytes" "$name" | sha256sum | cut -c 1-64)" = "$sum" ] ||
			die "$name in $file is damaged: copy the file again"
	done <<-END
		$list
	END
}

# unpack FOLDER PATTERN unpacks the parts whose names match.
unpack() {
	while read -r at bytes sum name; do
		# shellcheck disable=SC2254 # a pattern
		case $name in $2) ;; *) continue ;; esac
		mkdir -p "$1/$(dirname "$name")" || die "$1 cannot be written"
		[ "$(stream "$at" "$bytes" "$name" | tee "$1/$name" | sha256sum | cut -c 1-64)" = "$sum" ] ||
			die "$name could not be unpacked into $1: the disk is full, or the file was changed"
	done <<-END
		$list
	END
}

# called SUITE prints how people call a release of Debian.
called() {
	case $1 in
	bookworm) echo "Debian 12 (bookworm)" ;;
	trixie) echo "Debian 13 (trixie)" ;;
	*) echo "Debian $1" ;;
	esac
}

# os NAME prints a variable of os-release.
os() { (. /etc/os-release 2>/dev/null && eval "printf '%s' \"\${$1:-}\""); }

check_machine() {
	command -v dpkg >/dev/null && command -v apt-get >/dev/null ||
		die "this machine has $(os PRETTY_NAME), and the file is for $(called "$suite")"
	[ "$(os VERSION_CODENAME)" = "$suite" ] ||
		die "this machine has $(os PRETTY_NAME), and the file is for $(called "$suite"): make one with" \
			"parley bundle --suite $(os VERSION_CODENAME)"
	[ "$(dpkg --print-architecture)" = "$arch" ] ||
		die "this machine has the architecture $(dpkg --print-architecture), and the file is for $arch"
	case $(dpkg-query -W -f '${db:Status-Status}' parley 2>/dev/null) in
	installed) die "the package parley is installed, another program of that name: run first: apt-get remove parley" ;;
	esac
	check_version
}

# check_version leaves updates to parley update, which makes a backup first.
check_version() {
	debian=$(printf '%s' "$version" | sed 's/-/~/')
	[ ! -e /var/lib/parley-update/journal.json ] ||
		die "an update has not finished: run: parley update $file, which finishes it first"
	was=$(dpkg-query -W -f '${db:Status-Status} ${Version}' parley-box 2>/dev/null) || was=
	case $was in
	"installed $debian" | '') ;;
	config-files\ *) # removed, and its database is still there
		if dpkg --compare-versions "${was#* }" gt "$debian"; then
			die "Parley ${was#* } was removed, which is newer than $version, and its database may be too:" \
				"install that version, or erase what it left: apt-get purge parley-box"
		fi
		;;
	installed\ *)
		if dpkg --compare-versions "${was#* }" gt "$debian"; then
			die "Parley ${was#* } is installed, which is newer than $version"
		fi
		die "Parley ${was#* } is installed: run: parley update $file"
		;;
	esac
}

# index prints the list of Debian packages in this file.
index() {
	while read -r at bytes sum name; do
		[ "$name" != debian/Packages ] || part "$at" "$bytes"
	done <<-END
		$list
	END
}

# check_space compares the free space with what the packages and models need.
check_space() {
	debs_kb=$(printf '%s\n' "$list" | awk '$4 != "packs.tar.zst" { n += $2 } END { printf "%.0f", n / 1024 }')
	new_kb=$({
		dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed /had /p'
		index
	} | awk '$1 == "had" { had[$2] = 1 } $1 == "Package:" { p = $2 }
		$1 == "Installed-Size:" && !(p in had) { n += $2 } END { printf "%.0f", n }')
	had_kb=$(du -sk $packs 2>/dev/null | cut -f 1)
	packs_kb=$((packs_bytes / 1024 - ${had_kb:-0}))
	[ $packs_kb -gt 0 ] || packs_kb=0
	lacking=$(for need in "/usr $new_kb" "/var/lib $debs_kb" "/var/cache $packs_kb"; do
		printf '%s ' "$need"
		df -Pk "${need% *}" | awk 'NR == 2 { print $1, $4 }'
	done | awk -v spare=$spare_kb '
		{ folder[$3] = folder[$3] ? folder[$3] : $1; need[$3] += $2; free[$3] = $4 }
		END { for (d in need) if (need[d] + spare > free[d])
			printf "the disk of %s has %d MB free, and %d MB are needed\n", folder[d], free[d] / 1024,
				(need[d] + spare) / 1024 }' | head -n 1)
	[ -z "$lacking" ] || die "$lacking"
}

# apt FOLDER COMMAND... runs apt-get with the packages of this file, in FOLDER, as its only
# source, and without state of this machine but dpkg's.
apt() {
	dir=$1
	shift
	apt-get -q -o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
		-o Dir::State::Lists="$dir/lists" -o Dir::Cache="$dir/cache" -o APT::Sandbox::User=root \
		-o Acquire::Languages=none -o APT::Install-Recommends=false -o DPkg::Lock::Timeout=120 \
		-o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@"
}

# prepare FOLDER makes FOLDER an apt source, and has apt try the installation.
prepare() {
	mkdir -p "$1/lists/partial" "$1/cache/archives/partial" || die "$1 cannot be written"
	echo "deb [trusted=yes] file:$1 debian/" >"$1/sources.list"
	unpack "$1" 'debian/Packages'
	apt "$1" update >"$1/log" 2>&1 || { cat "$1/log" >&2; die "apt-get cannot read the packages of this file"; }
	apt "$1" -s -f --no-remove -y install "parley-box=$debian" >"$1/log" 2>&1 || {
		grep -v '^Reading\|^Building\|^NOTE' "$1/log" >&2
		die "the Debian packages of this file do not fit those of this machine. If they are older than the machine's," \
			"make the file again. If it has none (--no-debian), install first what is missing"
	}
}

# as_box runs a command as the user of the service.
as_box() { (cd / && HOME=/var/lib/parley exec setpriv --reuid=parley --regid=parley --init-groups "$@"); }

# models adds the models as the user who owns their folder, and sets their profile, unless
# the operator has.
models() {
	case $list in *' packs.tar.zst'*) ;; *) return 0 ;; esac
	say "Adding the models"
	# The file may have been exchanged since it was checked.
	MANIFEST_SHA256=$(printf '%s\n' "$manifest" | sha256sum | cut -c 1-64)
	export MANIFEST_SHA256
	as_box parley packs add - <"$file" || die "the models could not be added: run the command again"
	if ! grep -q '^profile:' $settings; then
		as_box sed -i "s/^#profile:.*/profile: $profile/" $settings || die "$settings could not be written"
	fi
}

begin() {
	if [ -d /run/systemd/system ]; then
		systemctl enable -q parley.service && systemctl start parley.service ||
			die "the service does not start: see journalctl -u parley"
		say "Parley $version is installed and runs, now and after each boot."
	else
		say "Parley $version is installed. Start it, for there is no systemd to do so:" \
			"cd / && setpriv --reuid=parley --regid=parley --init-groups parley serve"
	fi
	say "Next: sudo parley setup asks what it should be like; sudo parley doctor checks it."
}

install() {
	[ "$(id -u)" = 0 ] || die "installing needs root: run: sudo sh $file"
	check_machine
	check_file
	rm -rf $stage
	folder=$stage
	check_space
	prepare $stage
	say "Installing Parley $version and the Debian packages that are missing"
	unpack $stage '*.deb'
	dpkg --configure -a >/dev/null 2>&1 # after an interruption; apt-get does the rest
	apt $stage -f --no-remove -y install "parley-box=$debian" || die "installing failed: run the command again"
	rm -rf $stage
	models
	begin
}

check() {
	check_machine
	check_file
	check_space
	folder=$(mktemp -d) || die "there is no room for temporary files"
	chmod 755 "$folder"
	prepare "$folder"
	say "$file is intact and fits this machine. sudo sh $file installs Parley $version."
}

extract() {
	[ ! -e "$1" ] || die "$1 exists already: name a new folder"
	case $1 in /*) into=$1 ;; *) into=./$1 ;; esac
	mkdir -p "$into" || die "$into cannot be created"
	unpack "$into" '*'
	say "The parts are in $1."
}

main() {
	trap finish EXIT
	trap interrupted INT TERM HUP
	case $file in */*) ;; *) file=./$file ;; esac
	read_manifest
	case "$#${1:-}" in
	0) install ;;
	1--check) check ;;
	2--extract) extract "$2" ;;
	1--help | 1-h) usage ;;
	*)
		usage >&2
		exit 2
		;;
	esac
}

main "$@"
exit
