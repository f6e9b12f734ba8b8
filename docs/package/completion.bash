# SPDX-License-Identifier: BSD-2-Clause
# bash completion for trailcam, which knows itself what can stand where.
_trailcam()
{
	local word=${COMP_LINE:0:COMP_POINT} kept= i
	word=${word##*[[:space:]]}
	mapfile -t COMPREPLY < <("$1" __complete "$COMP_CWORD" "${COMP_WORDS[@]}" 2>/dev/null | cut -f1)
	if [[ ${COMPREPLY[0]-} == :program ]]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$word")
		return
	fi
	# Up to here bash has the word already: it takes "=" and ":" for the ends of words.
	[[ $word != *[=:]* ]] || kept=${word%"${word##*[=:]}"}
	for i in "${!COMPREPLY[@]}"; do
		printf -v "COMPREPLY[$i]" %q "${COMPREPLY[$i]#"$kept"}"
	done
}
complete -o bashdefault -o default -F _trailcam trailcam
