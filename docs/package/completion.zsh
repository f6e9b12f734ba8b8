#compdef trailcam
# SPDX-License-Identifier: BSD-2-Clause
# zsh completion for trailcam, which knows itself what can stand where.
local -a lines described
lines=("${(@f)$("${(Q)words[1]}" __complete $((CURRENT - 1)) "${(@Q)words}" 2>/dev/null)}")
if [[ $lines[1] == :program ]]; then
	_alternative 'commands:command:_command_names -e' 'files:file:_files'
elif [[ -z $lines[1] ]]; then
	_files
else
	described=("${(@)${(@)lines//:/\\:}/$'\t'/:}")
	_describe trailcam described
fi
