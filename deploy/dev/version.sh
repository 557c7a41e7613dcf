# The version of what is built here. Sourced, from the repository's top folder, under `set -eu`.
# shellcheck shell=sh

# The one source of the number. It is the next version until the commit has its tag.
number=$(sed -n 's/.*static let version = "\(.*\)"/\1/p' Sources/Support/Platform/BuildOrigin.swift)
[ -n "$number" ] || { echo "Sources/Support/Platform/BuildOrigin.swift has no number" >&2; exit 1; }

# Set this when you publish: it is in the packages. Until then no mail can be sent there (RFC 2606).
# shellcheck disable=SC2034
maintainer='Receipt Relay Maintainers <maintainers@receipt-relay.invalid>'

# `git archive` writes commit, time and tag here (gitattributes(5), export-subst): an archive of the sources has no git.
# shellcheck disable=SC2016
archived='$Format:%H %ct %(describe:tags)$'
case $archived in
  '$'*)
    commit=$(git rev-parse HEAD 2>/dev/null) || commit=''
    seconds=$(git log -1 --format=%ct 2>/dev/null) || seconds=$(date +%s)
    tag=$(git describe --exact-match --tags 2>/dev/null) || tag=''
    changed=$([ -z "$commit" ] || git status --porcelain --untracked-files=no)
    ;;
  *)
    read -r commit seconds tag <<END
$archived
END
    changed=''
    ;;
esac

SOURCE_COMMIT=$(printf %.9s "$commit")${changed:+-dirty}
# The commit's own time, so that the same commit gives the same bytes (https://reproducible-builds.org/specs).
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$seconds}
SOURCE_DATE=$(date -u -d "@$SOURCE_DATE_EPOCH" +%F)
export SOURCE_COMMIT SOURCE_DATE SOURCE_DATE_EPOCH

# The version of a package: a build before the tag sorts below the version itself (`~`, deb-version(7)).
package_version=$number
if [ "$tag" != "v$number" ]; then
  package_version="$number~git$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S).$(
    printf '%s' "${SOURCE_COMMIT:-unknown}" | tr - +)"
fi
