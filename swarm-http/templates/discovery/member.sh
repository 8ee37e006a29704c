# A member of {{ origin }}. Run it with: sh member.sh. What it keeps are files swarm.*, which member.py and member.mjs share.
set -eu
umask 077
BASE='{{ origin }}' SERVICE='{{ service }}' # where it is, and what challenges call it
NAME=${SWARM_NAME:-Ada} CONTACT=${SWARM_CONTACT:-ada@example.org} LENS=${SWARM_LENS:-}
say() { printf '%s\n' "$1"; }
stop() { say "$1" >&2; exit 1; }
call() { # prints the answer, and hints on standard error; what a 5xx answers is sent again, the very same bytes
  path=$1 failed=; shift
  : > swarm.heads
  : > swarm.answer
  curl -sS --fail-with-body --retry 4 --retry-max-time 60 -D swarm.heads -o swarm.answer -w '%{http_code}' "$@" "$BASE$path" \
    > swarm.status || failed=1
  awk '/^HTTP\// { head = "" } { head = head $0 "\n" } END { printf "%s", head }' swarm.heads > swarm.head # of the last attempt
  grep -iE '^swarm-(error|hint):' swarm.head >&2 || :
  [ -n "$failed" ] || { cat swarm.answer; return; }
  [ ! -s swarm.answer ] || { cat swarm.answer; echo; } >&2
  ! grep -iq '^swarm-error: unknown-token' swarm.head ||
    say 'If an operator reset your claim, remove the file swarm.token and run this again.' >&2
  return 1
}
post() { path=$1; shift; call "$path" -H 'Content-Type: application/json' --data-binary @- "$@"; }
text() { sed -nE 's/.*"'"$1"'":"(([^"\\]|\\.)*)".*/\1/p'; } # of a field, as it is written
digits() { sed -nE 's/.*"'"$1"'":([0-9]+).*/\1/p'; }
json() { # a text as JSON.stringify writes it, without the quotes around it
  ! printf '%s' "$1" | tr -d '\n\t\r' | LC_ALL=C grep -q '[[:cntrl:]]' || stop 'Leave out control characters.'
  printf '%s' "$1" | sed -e 's/[\\"]/\\&/g' -e "s/$(printf '\t')/\\\\t/g" -e "s/$(printf '\r')/\\\\r/g" |
    awk 'NR > 1 { printf "\\n" } { printf "%s", $0 }'
}
number() { # as JSON.stringify writes it: 0.7 for .70, 1 for 1.0
  printf '%s' "$1" | tr '\n' x | grep -Eq '^-?([0-9]{1,9}(\.[0-9]{0,6})?|\.[0-9]{1,6})$' ||
    stop "$1 is not a number like 0.7, with at most six decimals."
  printf '%s' "$1" |
    sed -E -e 's/^(-?)\./\10./' -e '/\./s/0*$//' -e 's/\.$//' -e 's/^(-?)0*([0-9])/\1\2/' -e 's/^-0$/0/'
}
sign() { # the line on standard input, with its signature added
  cat > swarm.text
  signature=$(openssl pkeyutl -sign -inkey swarm.pem -rawin -in swarm.text | openssl base64 -A)
  printf '%s,"signature":"%s"}' "$(sed 's/}$//' swarm.text)" "$signature"
}

# 1. A key of your own, for this service alone.
[ -s swarm.pem ] || openssl genpkey -algorithm ed25519 -out swarm.pem
PUBLIC=$(openssl pkey -in swarm.pem -pubout -outform DER | tail -c 32 | openssl base64 -A)

# 2. Apply.
if [ ! -s swarm.member ]; then
  NAME=$(json "$NAME"); CONTACT=$(json "$CONTACT"); LENS=$(json "$LENS")
  printf '{"name":"%s","contact":"%s","lens":"%s","publicKey":"%s"}' "$NAME" "$CONTACT" "$LENS" "$PUBLIC" |
    sign | post /api/swarm/apply > /dev/null || :
  text memberId < swarm.answer > swarm.member # also of a 409: an earlier application had arrived, and stands
  [ -s swarm.member ] || stop 'Not applied.'
fi
MEMBER=$(cat swarm.member)

# 3. Wait for an operator, and claim the token.
if [ ! -s swarm.token ]; then
  STATE=$(call "/api/swarm/apply/$MEMBER")
  STATE=$(say "$STATE" | text state)
  case $STATE in
    approved) ;;
    applied) stop "Member $MEMBER is applied: run this again once an operator has approved it." ;;
    claimed) stop "Member $MEMBER is claimed: its token was given out, and is not in swarm.token. Ask the operator to reset the claim, and run this again." ;;
    *) stop "Member $MEMBER is $STATE: ask the operator." ;;
  esac
  GIVEN=$(printf '{"memberId":"%s"}' "$MEMBER" | post /api/swarm/token-claim/challenge)
  CHALLENGE=$(say "$GIVEN" | text challenge) EXPIRES=$(say "$GIVEN" | text expiresAt)
  case $CHALLENGE in "$SERVICE "*) ;; *) stop "This challenge is for another service: $CHALLENGE" ;; esac
  GIVEN=$(printf '{"memberId":"%s","challenge":"%s","expiresAt":"%s"}' "$MEMBER" "$CHALLENGE" "$EXPIRES" |
    sign | post /api/swarm/token-claim)
  say "$GIVEN" | text token > swarm.token
fi
printf 'Authorization: Bearer %s\n' "$(cat swarm.token)" > swarm.header # a file: everyone can read a command line

# 4. Submit what swarm.take.<session> keeps, the very same bytes until it is answered. Then verify what is on file, by your own key:
#    its signature holds for what you signed.
file() {
  TAKE=swarm.take.$1 FILED=swarm.filed.$1
  if [ ! -s "$FILED" ]; then
    post /api/swarm/submit -H @swarm.header < "$TAKE" > /dev/null || :
    digits recommendationId < swarm.answer > "$FILED" # also of a 409: it had arrived before, and stands
  fi
  if [ ! -s "$FILED" ]; then
    case $(cat swarm.status) in 400|403|404|409) # the next run can make another take
      REFUSED=swarm.refused.$1.$(text nonce < "$TAKE") # kept: after a lost answer it may be on file
      ! grep -iq '^swarm-error:' swarm.head || { mv "$TAKE" "$REFUSED"; say "The take is kept as $REFUSED." >&2; } ;;
    esac
    rm "$FILED"
    stop 'Not filed.'
  fi
  id=$(cat "$FILED") record=$(call "/api/swarm/takes/$(cat "$FILED")" -H @swarm.header)
  say "$record" | text signature | openssl base64 -d -A > swarm.signature
  if [ ! -s swarm.signature ]; then # only a token that was claimed before the take was filed reads it sooner
    say "filed $BASE/swarm/takes/$id, sealed until session $1 is opened: then SWARM_SESSION=$1 verifies it"
    return
  fi
  salt=$(say "$record" | text salt) # of its seal: it proves later what you filed, and when
  [ -z "$salt" ] || say "$salt" > "swarm.salt.$id"
  case $record in *'"withheld":{'*)
    say "An operator withheld its texts, which are verified as you sent them: $(say "$record" | text note)" ;;
  esac
  sed 's/,"signature":"[^"]*"}$/}/' "$TAKE" | tr -d '\n' > swarm.text
  openssl pkeyutl -verify -inkey swarm.pem -rawin -in swarm.text -sigfile swarm.signature > /dev/null
  say "verified $BASE/swarm/takes/$id"
}

# 5. What was sent and never answered comes first, also once its session is over.
ID=${SWARM_SESSION:-} DONE=
for kept in swarm.take.*[0-9]; do
  session=${kept#swarm.take.}
  case $session in *[!0-9]*) continue ;; esac
  if [ -s "$kept" ] && { [ "$session" = "$ID" ] || [ ! -s "swarm.filed.$session" ]; }; then
    file "$session"
    DONE=1
    [ "$session" != "$ID" ] || exit 0
  fi
done

# 6. The open sessions, in which of them you may file, and the brief of one.
ME=$(call /api/swarm/me -H @swarm.header)
say "$ME" | awk '{ gsub(/\{"id":[0-9]/, "\n&"); print }' | grep '^{"id":[0-9]' > swarm.open || :
rm -f swarm.usable
while read -r session; do
  id=$(say "$session" | digits id) deadline=$(say "$session" | text windowClosesAt) code=$(say "$session" | text code) notes=
  case $session in *',"practice":true,'*) notes=', for practice' ;; esac
  say "session $id: $(say "$session" | text subjectId) on $(say "$session" | text date), deadline ${deadline:-not set}$notes${code:+, not for you: $code}"
  if [ -z "$code" ] || [ -s "swarm.take.$id" ]; then say "$session" >> swarm.usable; fi
done < swarm.open
if [ ! -s swarm.usable ]; then
  [ -z "$DONE" ] || exit 0
  NONE='Nothing is open'; [ ! -s swarm.open ] || NONE='None of these is open to you'
  stop "$NONE: run this again in some minutes, or ask the operator for a practice session."
fi
if [ -z "$ID" ] && [ "$(grep -c . swarm.usable)" = 1 ]; then ID=$(digits id < swarm.usable); fi
SESSION=$(grep "^{\"id\":$ID," swarm.usable) || stop 'Choose one that is open to you with SWARM_SESSION.'
if [ ! -s "swarm.take.$ID" ] && [ -z "${SWARM_BODY:+${SWARM_STANCE+${SWARM_CONFIDENCE+given}}}" ]; then
  call "/api/swarm/brief?session=$ID"; echo
  stop 'Run this again with SWARM_STANCE, SWARM_CONFIDENCE and SWARM_BODY (and SWARM_WEIGHTS=a=0.6,b=0.4).'
fi

# 7. Say what you think. What is signed is kept, because what is sent again must be the same.
if [ ! -s "swarm.take.$ID" ]; then
  STANCE=$(json "$SWARM_STANCE"); BODY=$(json "$SWARM_BODY"); CONFIDENCE=$(number "$SWARM_CONFIDENCE"); WEIGHTS=
  set -f; IFS=,
  for entry in ${SWARM_WEIGHTS-}; do
    case $entry in ?*=*) ;; *) stop "$entry is not a weight like btc=0.6." ;; esac
    BUCKET=$(json "${entry%=*}"); WEIGHT=$(number "${entry##*=}")
    WEIGHTS="$WEIGHTS${WEIGHTS:+,}{\"bucket\":\"$BUCKET\",\"weight\":$WEIGHT}"
  done
  set +f; unset IFS
  printf '{"memberId":"%s","date":"%s","subjectId":"%s","nonce":"%s","stance":"%s","confidence":%s,"body":"%s","memoUrl":""%s}' \
    "$MEMBER" "$(say "$SESSION" | text date)" "$(say "$SESSION" | text subjectId)" "$SERVICE $(openssl rand -hex 16)" \
    "$STANCE" "$CONFIDENCE" "$BODY" "${WEIGHTS:+,\"weights\":[$WEIGHTS]}" | sign > swarm.draft
  FLIGHT=$(post /api/swarm/preflight -H @swarm.header < swarm.draft) # everything that is wrong, at once
  case $FLIGHT in *'"findings":[],"warnings":[]}') ;; *) say "$FLIGHT" >&2 ;; esac
  case $FLIGHT in '{"ok":true'*) ;; *) stop 'Not filed.' ;; esac
  rm -f "swarm.filed.$ID"
  mv swarm.draft "swarm.take.$ID"
fi
file "$ID"

# 8. To amend: remove swarm.take.<session>, and run this again with other words.
