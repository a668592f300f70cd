// The syntax of pdg scripts, and its only definition. The comment of each rule is its entry in the
// language reference.
// SPDX-License-Identifier: Apache-2.0
grammar Pdg;

// -------------------------------------------------------------------------------------------------
// Files and statements
// -------------------------------------------------------------------------------------------------

/** A script, or a file of blocks that others import. It is UTF-8 text. */
file : statements EOF ;

/** Statements follow each other on lines of their own, or on one line with `;` between them. An end
    of line inside `(` `)` or `[` `]` is white space, and so is one before `else`. */
statements : statement? ((NEWLINE | ';') statement?)* ;

/** Statements between braces have a scope of their own. */
body : '{' statements '}' ;

/** A statement may have hints before it, on the same line or on lines above it. `##` comments above
    a statement document it. */
statement
    : (hint NEWLINE?)*
      ( importStatement | blockStatement | useStatement | variable | binding | input | data
      | forStatement | whileStatement | breakStatement | continueStatement | returnStatement
      | minimize | update | print | eval | assertStatement | assignment )
    ;

/** Where something is to be placed: `@on("ps0")`, `@shard(axis: 0)`, `@replicate`, `@stage(1)`.
    Hints never change what a program means. */
hint : '@' name ('(' arguments? ')')? ;

// -------------------------------------------------------------------------------------------------
// Declarations
// -------------------------------------------------------------------------------------------------

/** `import nn, optim` makes modules of the library visible in the whole file; `import "layers.pdg"`
    does so with a file beside this one. `as` gives another name. Members are used as `nn.dense`. */
importStatement : 'import' importItem (',' importItem)* ;
importItem : (name | STRING) ('as' name)? ;

/** A reusable piece of graph with its own scope: `block f(x: f32[N], units: int = 10) -> f32[N] { …
    }`. It is visible in the whole body that declares it, before its declaration too. `lazy`
    declares that rows of a parameter without a gradient need no update. */
blockStatement
    : 'block' name '(' (parameter (',' parameter)* ','?)? ')' ('->' result)? 'lazy'? body ;

/** An argument of a block, with its type and its default. Without a type it takes any tensor. Those
    behind `*` are given by their names. */
parameter : name (':' type)? ('=' expr)? | '*' ;

/** The type of the result, or the types of several results in parentheses. */
result : type | '(' type (',' type)* ','? ')' ;

/** An element type (`f32`, `T`) with the shape in brackets (`f32[N, 784]`, `T[N, 2 * I]`), a scalar
    (`f32`, `i64`), or what an argument may be besides a tensor: `int`, `float`, `bool`, `string`,
    `type`, `block` or, of an optimizer, `param`. A capital name stands for a dimension or an
    element type that is found out when the block is applied. */
type : name ('[' (expr (',' expr)* ','?)? ']')? | 'block' | 'param' ;

/** An instance of a block owns the block's variables: `use fc1 = nn.dense(units: 256)`. Lists of
    instances are written `use layers = [layer(size) for i in 0..12]`. */
useStatement : 'use' name '=' expr ;

/** A trainable variable (`param W: T[I, O] = nn.glorot()`) and one that is not (`state m: T[I] =
    0`). The initializer takes shape and type from the declaration. */
variable : kind=('param' | 'state') name (':' type)? ('=' expr)? ;

/** An immutable value, a mutable local, and a compile-time constant that a run may set when it
    stands at the top level (`--set batch=128`). `let (a, b) = …` and `let [a, b] = …` take apart.
    */
binding : kind=('let' | 'var' | 'const') pattern (':' type)? '=' expr ;

/** A name, or names that take a tuple or a list apart. */
pattern
    : name
    | '(' pattern (',' pattern)* ','? ')'
    | '[' pattern (',' pattern)* ','? ']'
    ;

/** A value that is fed from outside: `input x: f32[N, 784]`. */
input : 'input' name ':' type ;

/** A data source: `data train = io.csv("train.csv", batch: 32)`. */
data : 'data' name '=' expr ;

// -------------------------------------------------------------------------------------------------
// Control flow
// -------------------------------------------------------------------------------------------------

/** `for i in 0..n`, `for i in 1..=n`, `for (x, y) in train`, and, counting from 0,
    `for step, (x, y) in train`. */
forStatement : 'for' pattern (',' pattern)? 'in' iterable body ;

/** A range without (`..`) or with (`..=`) its upper end; or a data source, a list, instances. */
iterable : expr (('..' | '..=') expr)? ;

/** `while c { … }` runs its body as long as `c` is true. `max 100` ends the loop after 100 rounds, if
    the condition has not before: a loop with a bound can be differentiated. */
whileStatement : 'while' expr ('max' expr)? body ;

/** Leaves the innermost loop; of a loop over data, the pass ends. */
breakStatement : 'break' ;

/** Goes on with the next round of the innermost loop. */
continueStatement : 'continue' ;

/** Gives the results of a block; several are written `return (a, b)`. */
returnStatement : 'return' expr? ;

// -------------------------------------------------------------------------------------------------
// Training and results
// -------------------------------------------------------------------------------------------------

/** One step of training: the gradient of a loss for every parameter it depends on, or for those
    named after `over`; transformed as a whole by `via`; handed to the optimizer after `with`. */
minimize
    : 'minimize' expr ('over' expr (',' expr)*)? ('via' expr)? 'with' expr ;

/** The same with a gradient of one's own: `update W by g with optim.sgd(lr: 0.1)`. */
update : 'update' expr 'by' expr 'with' expr ;

/** Prints a text or a value when its place in the program is reached. In the text `{x}` stands for
    the value of an expression, `{x:.4}` for it with four decimals, `{x:.4g}` with four significant
    digits, `{x:8}` at least eight characters wide, and `{{`, `}}` for braces. */
print : 'print' '(' expr ')' ;

/** Names what a run returns: `eval a, b`, `eval [a, b]`, `eval a + b as total`. */
eval : 'eval' (evalTarget (',' evalTarget)* | '[' evalTarget (',' evalTarget)* ','? ']') ;
evalTarget : expr ('as' name)? ;

/** Stops the run when a condition is false: `assert n > 0, "n is {n}"`. */
assertStatement : 'assert' expr (',' expr)? ;

/** An assignment to a `var` or a `state`, or an expression for its effect. The last expression of a
    body is the body's value where an `if` gives a value. */
assignment : expr ('=' expr)? ;

// -------------------------------------------------------------------------------------------------
// Expressions
// -------------------------------------------------------------------------------------------------

/** Operators, those that bind tightest first: member, call, index; `**` (to the right, so `-x ** 2`
    is `-(x ** 2)`); signs; `*` `/` `//` `%`; `+` `-`; comparisons, which do not chain; `not`;
    `and`; `or`. `/` divides truly, `//` and `%` round down. */
expr
    : atom                                                          # atomExpr
    | expr '.' name                                                 # memberExpr
    | expr '(' arguments? ')'                                       # callExpr
    | expr '[' index (',' index)* ','? ']'                          # indexExpr
    | <assoc=right> expr op='**' expr                               # binaryExpr
    | op=('-' | '+') expr                                           # unaryExpr
    | expr op=('*' | '/' | '//' | '%') expr                         # binaryExpr
    | expr op=('+' | '-') expr                                      # binaryExpr
    | expr op=('==' | '!=' | '<' | '<=' | '>' | '>=') expr          # binaryExpr
    | op='not' expr                                                 # unaryExpr
    | expr op='and' expr                                            # binaryExpr
    | expr op='or' expr                                             # binaryExpr
    ;

/** Numbers, `true` and `false`, strings, names; a parenthesis, or with a comma a tuple; a list, or
    a list built by a loop; an `if` with a value. */
atom
    : INT | FLOAT | 'true' | 'false' | STRING | name
    | tuple | list | ifExpr
    ;
tuple : '(' expr (',' expr)* ','? ')' ;
list : '[' (expr ('for' pattern 'in' iterable | (',' expr)* ','?))? ']' ;

/** `if` chooses between bodies when the program runs, or when it is compiled if the condition is
    a constant. As a value it needs `else`: `let y = if a > 0 { a } else { -a }`. */
ifExpr : ifArm ('else' ifArm)* ('else' body)? ;
ifArm : 'if' expr body ;

/** Arguments of a call: by position, then by name. */
arguments : argument (',' argument)* ','? ;
argument : (name ':')? expr ;

/** One index: a number or a tensor of numbers; a slice `a..b`, `a..=b`, `..b`, `a..`; or the whole
    of an axis, `:`. */
index : ':' | expr (('..' | '..=') expr?)? | ('..' | '..=') expr ;

/** Words that are keywords only where a statement expects them may be names. */
name : ID | 'as' | 'by' | 'lazy' | 'max' | 'over' | 'via' | 'with' ;

/** What stands in the braces of a printed text. */
interpolation : expr EOF ;

// -------------------------------------------------------------------------------------------------
// Tokens
// -------------------------------------------------------------------------------------------------

IMPORT : 'import' ;  BLOCK : 'block' ;  USE : 'use' ;  PARAM : 'param' ;  STATE : 'state' ;
LET : 'let' ;  VAR : 'var' ;  CONST : 'const' ;  INPUT : 'input' ;  DATA : 'data' ;
IF : 'if' ;  ELSE : 'else' ;  FOR : 'for' ;  IN : 'in' ;  WHILE : 'while' ;
BREAK : 'break' ;  CONTINUE : 'continue' ;  RETURN : 'return' ;
MINIMIZE : 'minimize' ;  UPDATE : 'update' ;  PRINT : 'print' ;  EVAL : 'eval' ;
ASSERT : 'assert' ;
AND : 'and' ;  OR : 'or' ;  NOT : 'not' ;  TRUE : 'true' ;  FALSE : 'false' ;

AS : 'as' ;  BY : 'by' ;  LAZY : 'lazy' ;  MAX : 'max' ;  OVER : 'over' ;  VIA : 'via' ;
WITH : 'with' ;

LPAREN : '(' ;  RPAREN : ')' ;  LBRACKET : '[' ;  RBRACKET : ']' ;  LBRACE : '{' ;  RBRACE : '}' ;
COMMA : ',' ;  SEMICOLON : ';' ;  COLON : ':' ;  DOT : '.' ;  ARROW : '->' ;  AT : '@' ;
RANGE : '..' ;  RANGE_INCLUSIVE : '..=' ;  ASSIGN : '=' ;
EQ : '==' ;  NE : '!=' ;  LE : '<=' ;  GE : '>=' ;  LT : '<' ;  GT : '>' ;
POWER : '**' ;  FLOOR_DIV : '//' ;  STAR : '*' ;  SLASH : '/' ;  PERCENT : '%' ;
PLUS : '+' ;  MINUS : '-' ;

/** Names are of ASCII letters, digits and `_`, and do not start with a digit. */
ID : [A-Za-z_] [A-Za-z0-9_]* ;

/** `42`, `1_000_000`. */
INT : DIGITS ;

/** `0.5`, `1e-3`, `2.5e8`: digits on both sides of the point, so that `0..n` is a range. */
FLOAT : DIGITS '.' DIGITS EXPONENT? | DIGITS EXPONENT ;
fragment DIGITS : [0-9] ('_'? [0-9])* ;
fragment EXPONENT : [eE] [+-]? [0-9]+ ;

/** Text between double quotes on one line, with the escapes `\n` `\t` `\r` `\\` `\"` and
    `\u{1F600}`. */
STRING : '"' (~["\\\r\n] | '\\' ~[\r\n])* '"' ;

NEWLINE : '\r'? '\n' ;

/** `##` starts a comment that documents the statement below it, `#` any other; both end with the
    line. */
DOC_COMMENT : '##' ~[\r\n]* -> channel(HIDDEN) ;
COMMENT : '#' ~[\r\n]* -> channel(HIDDEN) ;
SPACE : [ \t\r]+ -> skip ;

// Mistakes that get a message of their own. The parser never sees these tokens.
BAD_NUMBER
    : (DIGITS ('.' DIGITS)*) [A-Za-z_] [A-Za-z0-9_]* | DIGITS '.' DIGITS ('.' DIGITS)+ ;
BAD_STRING : '"' (~["\\\r\n] | '\\' ~[\r\n])* '\\'? ;
SINGLE_QUOTED : '\'' (~['\\\r\n] | '\\' ~[\r\n])* '\'' ;
FOREIGN_OPERATOR : '&&' | '||' | '!' | '^' | '+=' | '-=' | '*=' | '/=' | '%=' ;
STRAY : . ;
