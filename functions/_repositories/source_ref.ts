/**
 * `git://repo/<id>/file/<path>#L70-L100` (seed 002), with `?commit=` before the lines where the commit is known.
 * Each step of the path is percent-encoded.
 */
export function sourceRef(id: string, commit: string, path: string, first: number, last: number): string {
  const steps = path.split("/").map(encodeURIComponent).join("/");
  const pinned = commit === "" ? "" : `?commit=${commit}`;
  return `git://repo/${id}/file/${steps}${pinned}${last === 0 ? "" : `#L${first}-L${last}`}`;
}
