# SPDX-License-Identifier: BSD-2-Clause
# fish completion for trailcam, which knows itself what can stand where.
function __trailcam_complete
    set -l before (commandline -opc)
    set -l typed (commandline -ct)
    set -l behind (commandline -op)
    set -l behind $behind[(math (count $before) + 1 + (test -n "$typed"; and echo 1; or echo 0))..-1]
    set -l lines ($before[1] __complete (count $before) $before "$typed" $behind 2>/dev/null)
    if test "$lines[1]" = :program
        __fish_complete_command
    else if test -z "$lines[1]"
        __fish_complete_path "$typed"
    else
        printf '%s\n' $lines
    end
end
complete -c trailcam -f -a '(__trailcam_complete)'
