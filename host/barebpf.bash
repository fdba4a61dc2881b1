# SPDX-License-Identifier: BSD-2-Clause
# Completion for bash: source this file, or put it into /usr/share/bash-completion/completions.

_barebpf_of() {
	COMPREPLY=($(compgen -W "$*" -- "$cur"))
}

_barebpf_files() {
	local IFS=$'\n'
	COMPREPLY=($(compgen -f -X "!$1" -- "$cur") $(compgen -d -- "$cur"))
}

# Names that the board knows: knobs, pins, maps. Silent when no board answers.
_barebpf_ask() {
	BAREBPF_QUIET=1 timeout 2 "${COMP_WORDS[0]}" "$@" 2>/dev/null
}

_barebpf() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= i
	local commands="up down info load run raw map ls rm exec bundle trace log console knob mem
		line selftest reset help"
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-t | --target) ((i++)) ;;
		-*) ;;
		*)
			command=${COMP_WORDS[i]}
			break
			;;
		esac
	done
	case $prev in
	-t | --target)
		COMPREPLY=($(compgen -f -- "$cur") $(compgen -W "unix: tty:" -- "$cur"))
		return
		;;
	--board) _barebpf_of virt raspi4b; return ;;
	--cpu) _barebpf_of cortex-a53 cortex-a72 cortex-a76 max; return ;;
	--gic) _barebpf_of 2 3; return ;;
	--mode) _barebpf_of interp jit checked; return ;;
	--type) _barebpf_of xdp tc action socket raw_tp tracepoint perf_event syscall; return ;;
	--pcap) _barebpf_files '*.@(pcap|pcapng|cap)'; return ;;
	--image | --bundle | --data-in | --data-out | -o | --output)
		COMPREPLY=($(compgen -f -- "$cur"))
		return
		;;
	esac
	case $command in
	'') _barebpf_of $commands --target --json --verbose --help ;;
	up)
		_barebpf_of --board --name --cpu --smp --mem --gic --icount --u-boot --tfa --el1 \
			--semihosting --image --bundle --append --qemu --timeout --no-wait
		;;
	load) [[ $cur == -* ]] && _barebpf_of --pin --type || _barebpf_files '*.o' ;;
	run)
		[[ $cur == -* ]] &&
			_barebpf_of --prog --type --data-in --data-out --pcap --repeat --maps ||
			_barebpf_files '*.o'
		;;
	raw) _barebpf_of --mem --mode --repeat ;;
	bundle) [[ $cur == -* ]] && _barebpf_of -o --pin --type --cpus || _barebpf_files '*.o' ;;
	map)
		case $prev in
		map) _barebpf_of list show dump ;;
		show | dump) _barebpf_of id name $(_barebpf_ask ls | awk '$1 == "map" { print $2 }') ;;
		id) _barebpf_of $(_barebpf_ask map | awk 'NR > 1 { print $1 }') ;;
		name) _barebpf_of $(_barebpf_ask map | awk 'NR > 1 { print $2 }') ;;
		*) _barebpf_of --all --rows ;;
		esac
		;;
	ls | rm) _barebpf_of $(_barebpf_ask ls | awk '{ print $2 }') ;;
	knob)
		case $prev in
		knob) _barebpf_of list get set ;;
		get | set) _barebpf_of $(_barebpf_ask knob | awk 'NR > 1 { print $1 }') ;;
		esac
		;;
	exec) COMPREPLY=($(compgen -c -f -- "$cur") $(compgen -W "--" -- "$cur")) ;;
	trace) _barebpf_of --lines ;;
	log) _barebpf_of --follow ;;
	reset) _barebpf_of --off ;;
	help) _barebpf_of $commands ;;
	esac
}

shopt -s extglob
complete -F _barebpf barebpf
