# bash completion for receipt-sandbox; made by: receipt-sandbox completions bash

_receipt-sandbox() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=() index skip=''
  # --option=value comes as three words.
  if [[ $current == '=' ]]; then current=''
  elif [[ $previous == '=' ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    if [[ ${COMP_WORDS[index]} == '=' ]]; then skip=1; continue; fi
    if [[ $skip ]]; then skip=''; continue; fi
    case ${COMP_WORDS[index]} in
      --app|--callback-scale|--callbacks|--config|--context|--currency|--customer|--decide|--decline-status|--delay|--duration|--events|--fail-rate|--fault|--fault-count|--fault-on|--merchant-id|--page-size|--payee-id|--port|--price|--rate|--rate-limit|--secret|--seed|--session|--status|--subscription|--token|--type|--url|--user) skip=1 ;;
      -*) ;;
      *) words+=("${COMP_WORDS[index]}") ;;
    esac
  done
  local command="${words[0]-} ${words[1]-}"
  COMPREPLY=()
  case "$command:$previous" in
    'destination '*':--port') :; return ;;
    'destination '*':--status') :; return ;;
    'destination '*':--fail-rate') :; return ;;
    'destination '*':--delay') :; return ;;
    'destination '*':--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'webhook '*':--port') :; return ;;
    'webhook '*':--secret') :; return ;;
    'webhook '*':--status') :; return ;;
    'webhook '*':--fail-rate') :; return ;;
    'webhook '*':--delay') :; return ;;
    'webhook '*':--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'stripe '*':--port') :; return ;;
    'stripe '*':--events') :; return ;;
    'stripe '*':--fail-rate') :; return ;;
    'stripe '*':--status') :; return ;;
    'stripe '*':--rate-limit') :; return ;;
    'stripe '*':--page-size') :; return ;;
    'stripe '*':--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'swedbank '*':--port') :; return ;;
    'swedbank '*':--token') :; return ;;
    'swedbank '*':--payee-id') :; return ;;
    'swedbank '*':--callback-scale') :; return ;;
    'swedbank '*':--callbacks') :; return ;;
    'swedbank '*':--fault') mapfile -t COMPREPLY < <(compgen -W 'error error-after cut silent lost truncated malformed redirect page lie' -- "$current"); return ;;
    'swedbank '*':--fault-on') mapfile -t COMPREPLY < <(compgen -W 'consumers create get patch capture cancel reverse tokens' -- "$current"); return ;;
    'swedbank '*':--fault-count') :; return ;;
    'swedbank '*':--fail-rate') :; return ;;
    'swedbank '*':--status') :; return ;;
    'swedbank '*':--delay') :; return ;;
    'swedbank '*':--seed') :; return ;;
    'swedbank '*':--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'afterpay '*':--port') :; return ;;
    'afterpay '*':--merchant-id') :; return ;;
    'afterpay '*':--secret') :; return ;;
    'afterpay '*':--currency') mapfile -t COMPREPLY < <(compgen -W 'USD AUD NZD CAD GBP EUR' -- "$current"); return ;;
    'afterpay '*':--decide') mapfile -t COMPREPLY < <(compgen -W 'rules approve decline' -- "$current"); return ;;
    'afterpay '*':--decline-status') mapfile -t COMPREPLY < <(compgen -W '201 402' -- "$current"); return ;;
    'afterpay '*':--fault') mapfile -t COMPREPLY < <(compgen -W 'error error-after cut silent lost truncated malformed redirect page lie' -- "$current"); return ;;
    'afterpay '*':--fault-on') mapfile -t COMPREPLY < <(compgen -W 'configuration create capture get sign validate' -- "$current"); return ;;
    'afterpay '*':--fault-count') :; return ;;
    'afterpay '*':--fail-rate') :; return ;;
    'afterpay '*':--status') :; return ;;
    'afterpay '*':--delay') :; return ;;
    'afterpay '*':--seed') :; return ;;
    'afterpay '*':--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'checkout '*':--app') :; return ;;
    'checkout '*':--user') :; return ;;
    'checkout '*':--price') :; return ;;
    'checkout '*':--url') :; return ;;
    'checkout '*':--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'event '*':--app') :; return ;;
    'event '*':--user') :; return ;;
    'event '*':--price') :; return ;;
    'event '*':--type') :; return ;;
    'event '*':--context') :; return ;;
    'event '*':--session') :; return ;;
    'event '*':--subscription') :; return ;;
    'event '*':--customer') :; return ;;
    'event '*':--url') :; return ;;
    'event '*':--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'load '*':--app') :; return ;;
    'load '*':--rate') :; return ;;
    'load '*':--duration') :; return ;;
    'load '*':--url') :; return ;;
    'load '*':--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'completions '*':--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
  esac
  if [[ $current == -* ]]; then
    case "$command" in
      'destination '*) mapfile -t COMPREPLY < <(compgen -W '--port --status --fail-rate --delay --config --json --help -h --version' -- "$current") ;;
      'webhook '*) mapfile -t COMPREPLY < <(compgen -W '--port --secret --status --fail-rate --delay --config --json --help -h --version' -- "$current") ;;
      'stripe '*) mapfile -t COMPREPLY < <(compgen -W '--port --events --fail-rate --status --rate-limit --page-size --config --json --help -h --version' -- "$current") ;;
      'swedbank '*) mapfile -t COMPREPLY < <(compgen -W '--port --token --payee-id --callback-scale --callbacks --fault --fault-on --fault-count --fail-rate --status --delay --seed --config --json --help -h --version' -- "$current") ;;
      'afterpay '*) mapfile -t COMPREPLY < <(compgen -W '--port --merchant-id --secret --currency --decide --decline-status --fault --fault-on --fault-count --fail-rate --status --delay --seed --config --json --help -h --version' -- "$current") ;;
      'checkout '*) mapfile -t COMPREPLY < <(compgen -W '--app --user --price --url --config --json --help -h --version' -- "$current") ;;
      'event '*) mapfile -t COMPREPLY < <(compgen -W '--app --user --price --type --context --session --subscription --customer --url --config --json --help -h --version' -- "$current") ;;
      'load '*) mapfile -t COMPREPLY < <(compgen -W '--app --rate --duration --url --config --json --help -h --version' -- "$current") ;;
      'completions '*) mapfile -t COMPREPLY < <(compgen -W '--config --json --help -h --version' -- "$current") ;;
      *) mapfile -t COMPREPLY < <(compgen -W '--config --json --help -h --version' -- "$current") ;;
    esac
    return
  fi
  case "$command" in
    ' ') mapfile -t COMPREPLY < <(compgen -W 'destination webhook stripe swedbank afterpay checkout event load completions help' -- "$current") ;;
    'completions '*) mapfile -t COMPREPLY < <(compgen -W 'bash zsh fish' -- "$current") ;;
  esac
}
complete -F _receipt-sandbox receipt-sandbox
