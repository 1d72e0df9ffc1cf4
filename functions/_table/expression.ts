import type { Key } from "./keys.ts";

/** Collects the clauses of one update, where they come from several rules. Attributes are written `#name`. */
export class Expression {
  private readonly clauses = { SET: [] as string[], ADD: [] as string[], DELETE: [] as string[] };
  private readonly conditions: string[] = [];
  private readonly names: Record<string, string> = {};
  private readonly values: Record<string, unknown> = {};

  set = (clause: string) => this.clause("SET", clause);
  add = (clause: string) => this.clause("ADD", clause);
  delete = (clause: string) => this.clause("DELETE", clause);

  condition(condition: string): this {
    this.conditions.push(condition);
    return this;
  }

  name(placeholder: string, name: string): this {
    this.names[placeholder] = name;
    return this;
  }

  value(values: Record<string, unknown>): this {
    Object.assign(this.values, values);
    return this;
  }

  private clause(kind: "SET" | "ADD" | "DELETE", clause: string): this {
    this.clauses[kind].push(clause);
    return this;
  }

  toUpdate(Key: Key) {
    const clauses = Object.entries(this.clauses).filter(([, parts]) => parts.length > 0);
    return {
      Key,
      UpdateExpression: clauses.map(([kind, parts]) => `${kind} ${parts.join(", ")}`).join(" "),
      ...(this.conditions.length > 0 && { ConditionExpression: this.conditions.join(" AND ") }),
      ...(Object.keys(this.names).length > 0 && { ExpressionAttributeNames: this.names }),
      ExpressionAttributeValues: this.values,
    };
  }
}
