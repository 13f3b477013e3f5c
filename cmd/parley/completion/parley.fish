# fish completion for parley; see: parley completion --help

function __parley_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l current $words[-1]
    for line in (command $words[1] complete-line -- $words[2..-1] 2>/dev/null)
        switch $line
            case :files
                string match -q -- '--*=*' $current
                and __fish_complete_path (string replace -r '^--[^=]*=' '' -- $current) | string replace -r '^' (string replace -r '=.*' '=' -- $current)
                or __fish_complete_path $current
            case :folders
                string match -q -- '--*=*' $current
                and __fish_complete_directories (string replace -r '^--[^=]*=' '' -- $current) | string replace -r '^' (string replace -r '=.*' '=' -- $current)
                or __fish_complete_directories $current
            case '*'
                echo $line
        end
    end
end

complete -c parley -f -a '(__parley_complete)'
