/**
 * Emscripten's embind writes the glue of each bound function as text and runs it through `new Function`, which the
 * viewer's content security policy forbids: nothing that a hostile file can steer may become code. The same glue is put
 * in its place as closures. The libraries' files stay as they were published; only what runs is changed.
 */

const INVOKER = `var invokerFn=function(...given){
  if(given.length!==argCount-2)throwBindingError(humanName+" called with "+given.length+" arguments");
  var stack=needsDestructorStack?[]:null,wired=[cppTargetFunc];
  if(isClassMethodFunc)wired.push(argTypes[1].toWireType(stack,this));
  for(var k=2;k<argCount;++k)wired.push(argTypes[k].toWireType(stack,given[k-2]));
  var rv=cppInvokerFunc(...wired);
  if(stack)runDestructors(stack);
  else for(var k=isClassMethodFunc?1:2;k<argCount;++k){
    if(argTypes[k].destructorFunction!==null)argTypes[k].destructorFunction(wired[isClassMethodFunc?k:k-1]);
  }
  if(returns)return argTypes[0].fromWireType(rv);
};`;

const CALLER = `var invokerFunction=function(obj,func,destructorsRef,args){
  var at=0,list=[];
  for(var t of types.slice(0,argCount)){list.push(t.readValueFromPointer(args+at));at+=t.argPackAdvance}
  var rv=kind===1?new func(...list):kind===0?func.call(obj,...list):func.call(...list);
  if(!retType.isVoid)return emval_returnValue(retType,destructorsRef,rv);
};`;

const LATER_CALLER = `var invokerFunction=function(handle,methodName,destructorsRef,args){
  var list=argFromPtr.map((read,i)=>read(args+i*GenericWireTypeSize)),rv,of;
  if(kind===0)rv=(0,Emval.toValue(handle))(...list);
  else if(kind===1){of=Emval.toValue(handle);rv=of[getStringOrSymbol(methodName)](...list)}
  else if(kind===2)rv=new (Emval.toValue(handle))(...list);
  else rv=list[list.length-1];
  if(!retType.isVoid)return emval_returnValue(toReturnWire,destructorsRef,rv);
};`;

/** As Emscripten 3 and 4 write them (occt-import-js 0.0.23, three's Basis transcoder; rhino3dm 8.35). */
const GLUE: [string, string][] = [
  [
    "let[args,invokerFnBody]=createJsInvoker(argTypes,isClassMethodFunc,returns,isAsync);args.push(invokerFnBody);" +
      "var invokerFn=newFunc(Function,args)(...closureArgs);",
    INVOKER,
  ],
  ["params.push(functionBody);var invokerFunction=newFunc(Function,params)(...args);", CALLER],
  [
    "let invokerFactory=createJsInvoker(argTypes,isClassMethodFunc,returns,isAsync);" +
      "var invokerFn=invokerFactory(...closureArgs);",
    INVOKER,
  ],
  [
    "var invokerFunction=new Function(Object.keys(captures),functionBody)(...Object.values(captures));",
    LATER_CALLER,
  ],
];

/** Mark after which the remaining text is unreachable. */
const UNREACHED = ["return new Function(args1,invokerFnBody)"];

/** Return the library's source without `new Function`. Throws if a new release writes its glue in another way. */
export function withoutEval(source: string): string {
  let text = source;
  for (const [from, to] of GLUE) text = text.replace(from, () => to);
  const left = UNREACHED.reduce((rest, known) => rest.replace(known, ""), text);
  if (/new Function\(|newFunc\(Function/.test(left)) throw new Error("A library of the viewer cannot be used.");
  return text;
}
