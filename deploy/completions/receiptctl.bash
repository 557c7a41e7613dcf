# bash completion for receiptctl; made by: receiptctl completions bash

_receiptctl() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=() index skip=''
  # --option=value comes as three words.
  if [[ $current == '=' ]]; then current=''
  elif [[ $previous == '=' ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    if [[ ${COMP_WORDS[index]} == '=' ]]; then skip=1; continue; fi
    if [[ $skip ]]; then skip=''; continue; fi
    case ${COMP_WORDS[index]} in
      --after|--app|--cause|--config|--context|--customer|--database|--delay|--duration|--events|--fail-rate|--file|--import-id|--interval|--limit|--object|--outcome|--page-size|--port|--price|--process|--rate|--rate-limit|--reason|--session|--since|--state|--status|--subject|--subscription|--type|--until|--url|--user|--why) skip=1 ;;
      -*) ;;
      *) words+=("${COMP_WORDS[index]}") ;;
    esac
  done
  local command="${words[0]-} ${words[1]-}"
  COMPREPLY=()
  case "$command:$previous" in
    'receipts list:--app') :; return ;;
    'receipts list:--state') mapfile -t COMPREPLY < <(compgen -W 'waiting pending delivered failed cancelled' -- "$current"); return ;;
    'receipts list:--user') :; return ;;
    'receipts list:--reason') :; return ;;
    'receipts list:--cause') :; return ;;
    'receipts list:--object') :; return ;;
    'receipts list:--import-id') :; return ;;
    'receipts list:--since') :; return ;;
    'receipts list:--until') :; return ;;
    'receipts list:--limit') :; return ;;
    'receipts list:--after') :; return ;;
    'receipts list:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'receipts show:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'receipts replay:--app') :; return ;;
    'receipts replay:--state') mapfile -t COMPREPLY < <(compgen -W 'waiting pending delivered failed cancelled' -- "$current"); return ;;
    'receipts replay:--user') :; return ;;
    'receipts replay:--reason') :; return ;;
    'receipts replay:--cause') :; return ;;
    'receipts replay:--object') :; return ;;
    'receipts replay:--import-id') :; return ;;
    'receipts replay:--since') :; return ;;
    'receipts replay:--until') :; return ;;
    'receipts replay:--limit') :; return ;;
    'receipts replay:--rate') :; return ;;
    'receipts replay:--why') :; return ;;
    'receipts replay:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'receipts cancel:--app') :; return ;;
    'receipts cancel:--state') mapfile -t COMPREPLY < <(compgen -W 'waiting pending delivered failed cancelled' -- "$current"); return ;;
    'receipts cancel:--user') :; return ;;
    'receipts cancel:--reason') :; return ;;
    'receipts cancel:--cause') :; return ;;
    'receipts cancel:--object') :; return ;;
    'receipts cancel:--import-id') :; return ;;
    'receipts cancel:--since') :; return ;;
    'receipts cancel:--until') :; return ;;
    'receipts cancel:--limit') :; return ;;
    'receipts cancel:--why') :; return ;;
    'receipts cancel:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'receipts complete:--app') :; return ;;
    'receipts complete:--state') mapfile -t COMPREPLY < <(compgen -W 'waiting pending delivered failed cancelled' -- "$current"); return ;;
    'receipts complete:--reason') :; return ;;
    'receipts complete:--cause') :; return ;;
    'receipts complete:--object') :; return ;;
    'receipts complete:--import-id') :; return ;;
    'receipts complete:--since') :; return ;;
    'receipts complete:--until') :; return ;;
    'receipts complete:--limit') :; return ;;
    'receipts complete:--user') :; return ;;
    'receipts complete:--price') :; return ;;
    'receipts complete:--context') :; return ;;
    'receipts complete:--why') :; return ;;
    'receipts complete:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'jobs list:--state') mapfile -t COMPREPLY < <(compgen -W 'preparing running paused done cancelled' -- "$current"); return ;;
    'jobs list:--limit') :; return ;;
    'jobs list:--after') :; return ;;
    'jobs list:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'jobs show:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'jobs watch:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'jobs pause:--reason') :; return ;;
    'jobs pause:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'jobs resume:--reason') :; return ;;
    'jobs resume:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'jobs cancel:--reason') :; return ;;
    'jobs cancel:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'events list:--app') :; return ;;
    'events list:--type') :; return ;;
    'events list:--outcome') mapfile -t COMPREPLY < <(compgen -W 'receipt noted ignored unparsed other_mode other_account erased' -- "$current"); return ;;
    'events list:--since') :; return ;;
    'events list:--until') :; return ;;
    'events list:--limit') :; return ;;
    'events list:--after') :; return ;;
    'events list:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'events show:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'events backfill:--since') :; return ;;
    'events backfill:--app') :; return ;;
    'events backfill:--reason') :; return ;;
    'events backfill:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'events reprocess:--outcome') mapfile -t COMPREPLY < <(compgen -W 'receipt noted ignored unparsed other_mode other_account erased' -- "$current"); return ;;
    'events reprocess:--app') :; return ;;
    'events reprocess:--type') :; return ;;
    'events reprocess:--since') :; return ;;
    'events reprocess:--until') :; return ;;
    'events reprocess:--reason') :; return ;;
    'events reprocess:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'contexts list:--app') :; return ;;
    'contexts list:--user') :; return ;;
    'contexts list:--since') :; return ;;
    'contexts list:--until') :; return ;;
    'contexts list:--limit') :; return ;;
    'contexts list:--after') :; return ;;
    'contexts list:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'contexts show:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'users show:--app') :; return ;;
    'users show:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'users forget:--app') :; return ;;
    'users forget:--reason') :; return ;;
    'users forget:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'stats '*':--app') :; return ;;
    'stats '*':--interval') :; return ;;
    'stats '*':--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'top '*':--app') :; return ;;
    'top '*':--interval') :; return ;;
    'top '*':--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'alerts list:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'alerts test:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'audit list:--subject') :; return ;;
    'audit list:--since') :; return ;;
    'audit list:--until') :; return ;;
    'audit list:--limit') :; return ;;
    'audit list:--after') :; return ;;
    'audit list:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'db check:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'db backup:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'db restore:--reason') :; return ;;
    'db restore:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'db purge:--reason') :; return ;;
    'db purge:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'config init:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'config check:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'config show:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'config schema:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'reload '*':--database') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'reload '*':--process') :; return ;;
    'reload '*':--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'links check:--app') :; return ;;
    'links check:--file') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'links check:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'sandbox destination:--port') :; return ;;
    'sandbox destination:--status') :; return ;;
    'sandbox destination:--fail-rate') :; return ;;
    'sandbox destination:--delay') :; return ;;
    'sandbox destination:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'sandbox stripe:--port') :; return ;;
    'sandbox stripe:--events') :; return ;;
    'sandbox stripe:--fail-rate') :; return ;;
    'sandbox stripe:--status') :; return ;;
    'sandbox stripe:--rate-limit') :; return ;;
    'sandbox stripe:--page-size') :; return ;;
    'sandbox stripe:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'sandbox event:--app') :; return ;;
    'sandbox event:--user') :; return ;;
    'sandbox event:--price') :; return ;;
    'sandbox event:--type') :; return ;;
    'sandbox event:--context') :; return ;;
    'sandbox event:--session') :; return ;;
    'sandbox event:--subscription') :; return ;;
    'sandbox event:--customer') :; return ;;
    'sandbox event:--url') :; return ;;
    'sandbox event:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'sandbox load:--app') :; return ;;
    'sandbox load:--rate') :; return ;;
    'sandbox load:--duration') :; return ;;
    'sandbox load:--url') :; return ;;
    'sandbox load:--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'completions '*':--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    'manual '*':--config') mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
  esac
  if [[ $current == -* ]]; then
    case "$command" in
      'receipts list') mapfile -t COMPREPLY < <(compgen -W '--app --state --user --reason --cause --object --import-id --no-import-id --since --until --limit --after --config --json --no-input --help -h --version' -- "$current") ;;
      'receipts show') mapfile -t COMPREPLY < <(compgen -W '--config --json --no-input --help -h --version' -- "$current") ;;
      'receipts replay') mapfile -t COMPREPLY < <(compgen -W '--app --state --user --reason --cause --object --import-id --no-import-id --since --until --limit --force --rate --wait -w --why --yes -y --dry-run -n --config --json --no-input --help -h --version' -- "$current") ;;
      'receipts cancel') mapfile -t COMPREPLY < <(compgen -W '--app --state --user --reason --cause --object --import-id --no-import-id --since --until --limit --why --yes -y --dry-run -n --config --json --no-input --help -h --version' -- "$current") ;;
      'receipts complete') mapfile -t COMPREPLY < <(compgen -W '--app --state --reason --cause --object --import-id --no-import-id --since --until --limit --user --price --context --force --why --yes -y --dry-run -n --config --json --no-input --help -h --version' -- "$current") ;;
      'jobs list') mapfile -t COMPREPLY < <(compgen -W '--state --limit --after --config --json --no-input --help -h --version' -- "$current") ;;
      'jobs show') mapfile -t COMPREPLY < <(compgen -W '--config --json --no-input --help -h --version' -- "$current") ;;
      'jobs watch') mapfile -t COMPREPLY < <(compgen -W '--config --json --no-input --help -h --version' -- "$current") ;;
      'jobs pause') mapfile -t COMPREPLY < <(compgen -W '--reason --config --json --no-input --help -h --version' -- "$current") ;;
      'jobs resume') mapfile -t COMPREPLY < <(compgen -W '--reason --config --json --no-input --help -h --version' -- "$current") ;;
      'jobs cancel') mapfile -t COMPREPLY < <(compgen -W '--reason --yes -y --dry-run -n --config --json --no-input --help -h --version' -- "$current") ;;
      'events list') mapfile -t COMPREPLY < <(compgen -W '--app --type --outcome --since --until --limit --after --config --json --no-input --help -h --version' -- "$current") ;;
      'events show') mapfile -t COMPREPLY < <(compgen -W '--config --json --no-input --help -h --version' -- "$current") ;;
      'events backfill') mapfile -t COMPREPLY < <(compgen -W '--since --app --undelivered --dry-run -n --reason --config --json --no-input --help -h --version' -- "$current") ;;
      'events reprocess') mapfile -t COMPREPLY < <(compgen -W '--outcome --app --type --since --until --yes -y --dry-run -n --reason --config --json --no-input --help -h --version' -- "$current") ;;
      'contexts list') mapfile -t COMPREPLY < <(compgen -W '--app --user --since --until --limit --after --config --json --no-input --help -h --version' -- "$current") ;;
      'contexts show') mapfile -t COMPREPLY < <(compgen -W '--config --json --no-input --help -h --version' -- "$current") ;;
      'users show') mapfile -t COMPREPLY < <(compgen -W '--app --config --json --no-input --help -h --version' -- "$current") ;;
      'users forget') mapfile -t COMPREPLY < <(compgen -W '--app --cancel-open --ask-purchasely --reason --yes -y --dry-run -n --config --json --no-input --help -h --version' -- "$current") ;;
      'stats '*) mapfile -t COMPREPLY < <(compgen -W '--app --watch -w --interval --config --json --no-input --help -h --version' -- "$current") ;;
      'top '*) mapfile -t COMPREPLY < <(compgen -W '--app --interval --config --json --no-input --help -h --version' -- "$current") ;;
      'alerts list') mapfile -t COMPREPLY < <(compgen -W '--config --json --no-input --help -h --version' -- "$current") ;;
      'alerts test') mapfile -t COMPREPLY < <(compgen -W '--config --json --no-input --help -h --version' -- "$current") ;;
      'audit list') mapfile -t COMPREPLY < <(compgen -W '--subject --since --until --limit --after --config --json --no-input --help -h --version' -- "$current") ;;
      'db check') mapfile -t COMPREPLY < <(compgen -W '--config --json --no-input --help -h --version' -- "$current") ;;
      'db backup') mapfile -t COMPREPLY < <(compgen -W '--config --json --no-input --help -h --version' -- "$current") ;;
      'db restore') mapfile -t COMPREPLY < <(compgen -W '--reason --yes -y --dry-run -n --config --json --no-input --help -h --version' -- "$current") ;;
      'db purge') mapfile -t COMPREPLY < <(compgen -W '--reason --yes -y --dry-run -n --config --json --no-input --help -h --version' -- "$current") ;;
      'config init') mapfile -t COMPREPLY < <(compgen -W '--config --json --no-input --help -h --version' -- "$current") ;;
      'config check') mapfile -t COMPREPLY < <(compgen -W '--config --json --no-input --help -h --version' -- "$current") ;;
      'config show') mapfile -t COMPREPLY < <(compgen -W '--config --json --no-input --help -h --version' -- "$current") ;;
      'config schema') mapfile -t COMPREPLY < <(compgen -W '--config --json --no-input --help -h --version' -- "$current") ;;
      'reload '*) mapfile -t COMPREPLY < <(compgen -W '--database --process --config --json --no-input --help -h --version' -- "$current") ;;
      'links check') mapfile -t COMPREPLY < <(compgen -W '--app --file --fetch --config --json --no-input --help -h --version' -- "$current") ;;
      'sandbox destination') mapfile -t COMPREPLY < <(compgen -W '--port --status --fail-rate --delay --config --json --no-input --help -h --version' -- "$current") ;;
      'sandbox stripe') mapfile -t COMPREPLY < <(compgen -W '--port --events --fail-rate --status --rate-limit --page-size --config --json --no-input --help -h --version' -- "$current") ;;
      'sandbox event') mapfile -t COMPREPLY < <(compgen -W '--app --user --price --type --context --session --subscription --customer --url --config --json --no-input --help -h --version' -- "$current") ;;
      'sandbox load') mapfile -t COMPREPLY < <(compgen -W '--app --rate --duration --url --config --json --no-input --help -h --version' -- "$current") ;;
      'completions '*) mapfile -t COMPREPLY < <(compgen -W '--config --json --no-input --help -h --version' -- "$current") ;;
      'manual '*) mapfile -t COMPREPLY < <(compgen -W '--config --json --no-input --help -h --version' -- "$current") ;;
      *) mapfile -t COMPREPLY < <(compgen -W '--config --json --no-input --help -h --version' -- "$current") ;;
    esac
    return
  fi
  case "$command" in
    ' ') mapfile -t COMPREPLY < <(compgen -W 'receipts jobs events contexts users alerts audit db config links sandbox stats top reload completions manual help' -- "$current") ;;
    'receipts ') mapfile -t COMPREPLY < <(compgen -W 'list show replay cancel complete' -- "$current") ;;
    'jobs ') mapfile -t COMPREPLY < <(compgen -W 'list show watch pause resume cancel' -- "$current") ;;
    'events ') mapfile -t COMPREPLY < <(compgen -W 'list show backfill reprocess' -- "$current") ;;
    'contexts ') mapfile -t COMPREPLY < <(compgen -W 'list show' -- "$current") ;;
    'users ') mapfile -t COMPREPLY < <(compgen -W 'show forget' -- "$current") ;;
    'alerts ') mapfile -t COMPREPLY < <(compgen -W 'list test' -- "$current") ;;
    'audit ') mapfile -t COMPREPLY < <(compgen -W 'list' -- "$current") ;;
    'db ') mapfile -t COMPREPLY < <(compgen -W 'check backup restore purge' -- "$current") ;;
    'config ') mapfile -t COMPREPLY < <(compgen -W 'init check show schema' -- "$current") ;;
    'links ') mapfile -t COMPREPLY < <(compgen -W 'check' -- "$current") ;;
    'sandbox ') mapfile -t COMPREPLY < <(compgen -W 'destination stripe event load' -- "$current") ;;
    'db backup') mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    'db restore') mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    'config init') mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    'completions '*) mapfile -t COMPREPLY < <(compgen -W 'bash zsh fish' -- "$current") ;;
    'manual '*) mapfile -t COMPREPLY < <(compgen -W 'receiptctl receiptd receiptd.json5' -- "$current") ;;
  esac
}
complete -F _receiptctl receiptctl
